/**
 * Texts for the search: words as frequent as in a language (Zipf), and facts that questions ask about in other words.
 */

export type Question = { text: string; document: number; page: number };
export type Page = { document: number; page: number; text: string };

const small =
  'the of and to in a is that for it was on are as with his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more two like him see time could no make than first been its who now people my made over did down only way find use may long little very after words called just where most know'.split(
    ' ',
  );
const syllables =
  'ba ce di fo gu ha jel kin lom mur nap ost pel qua rin sot tam ulv ver win xan yor zeb bran cles drim fler'.split(
    ' ',
  );
const vocabularySize = 30_000;
const wordsPerPage = 220;
const attributes =
  'deposit warranty colour tariff supplier capacity deadline inspector penalty discount thickness pressure'.split(' ');

/** Always the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export class Library {
  readonly documents: number;
  readonly pagesEach: number;
  readonly questions: Question[] = [];
  readonly #planted = new Map<string, string[]>();
  readonly #random = randomOf(7);
  readonly #vocabulary: string[];
  readonly #reach: Float64Array;

  constructor(documents: number, pagesEach: number, questions: number) {
    this.documents = documents;
    this.pagesEach = pagesEach;
    this.#vocabulary = [...small, ...this.#madeUp(vocabularySize - small.length)];
    this.#reach = new Float64Array(vocabularySize);
    let sum = 0;
    for (let rank = 0; rank < vocabularySize; rank += 1) {
      sum += 1 / (rank + 2.7);
      this.#reach[rank] = sum;
    }
    for (let index = 0; index < questions; index += 1) this.#plant();
  }

  *pages(): Generator<Page> {
    for (let document = 0; document < this.documents; document += 1) {
      for (let page = 1; page <= this.pagesEach; page += 1) {
        const facts = this.#planted.get(`${document}/${page}`) ?? [];
        yield {
          document,
          page,
          text: [this.#prose(wordsPerPage / 2), ...facts, this.#prose(wordsPerPage / 2)].join(' '),
        };
      }
    }
  }

  /**
   * A fact on one page; pages with the same things and another attribute, and with the same attribute of other things.
   */
  #plant(): void {
    const attribute = this.#pick(attributes);
    const others = attributes.filter((one) => one !== attribute);
    const [kind, thing, place] = [this.#thing(), this.#thing(), this.#thing()];
    const value = 10 + Math.floor(this.#random() * 9_000);
    const { document, page } = this.#put(
      `The ${attribute} for ${kind} ${thing} from ${place} was set to ${value} by the board.`,
    );
    for (let count = 0; count < 3; count += 1) {
      this.#put(`The ${this.#pick(others)} for ${kind} ${thing} was discussed at length.`);
      this.#put(`The ${attribute} for ${this.#thing()} ${thing} from ${this.#thing()} was set to ${value + 1}.`);
      this.#put(`Everybody from ${place} knows the ${kind} road.`);
    }
    // Asked with an ending more, or an ending less, than the text has.
    const asked = this.#random() < 0.5 ? `${thing}s` : thing.slice(0, -1);
    const forms = [
      `What is the ${attribute} for the ${kind} ${asked} from ${place}?`,
      `How much was the ${attribute}s of ${asked} that are ${kind} and come from ${place}, and who said so?`,
      `Which ${attribute} did they find for a ${kind} ${asked} in ${place}?`,
    ];
    this.questions.push({ text: this.#pick(forms), document, page });
  }

  #put(fact: string): { document: number; page: number } {
    const document = Math.floor(this.#random() * this.documents);
    const page = 1 + Math.floor(this.#random() * this.pagesEach);
    const key = `${document}/${page}`;
    this.#planted.set(key, [...(this.#planted.get(key) ?? []), fact]);
    return { document, page };
  }

  /** Neither everywhere nor nowhere. */
  #thing(): string {
    return this.#vocabulary[300 + Math.floor(this.#random() * 12_000)] ?? '';
  }

  #prose(words: number): string {
    let text = '';
    for (let count = 0; count < words; count += 1)
      text += `${count === 0 ? '' : ' '}${this.#word()}${count % 12 === 11 ? '.' : ''}`;
    return text;
  }

  #word(): string {
    const at = this.#random() * (this.#reach[vocabularySize - 1] ?? 0);
    let [low, high] = [0, vocabularySize - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#reach[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return this.#vocabulary[low] ?? '';
  }

  #madeUp(count: number): string[] {
    const words = new Set<string>();
    while (words.size < count) {
      const length = 2 + Math.floor(this.#random() * 3);
      words.add(Array.from({ length }, () => this.#pick(syllables)).join(''));
    }
    return [...words];
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.#random() * list.length)];
    if (picked === undefined) throw new Error('There is nothing to pick from');
    return picked;
  }
}
