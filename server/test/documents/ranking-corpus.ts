/**
 * A collection of the size of Cranfield's: 1,400 documents and 225 questions with the documents that answer them. Made
 * of invented words with the frequencies of natural language, in subjects that share words, in varying forms.
 */

export type RankingCorpus = {
  documents: { name: string; text: string }[];
  questions: { text: string; relevant: Set<number> }[];
};

const documents = 1_400;
const questions = 225;
const subjects = 120;
const aspectsEach = 4;

const usual = 'the of and a in is for to at by on with what are which that from this was be how'.split(' ');
const syllables = 'ba ce di fo gu ka le mi no pu ra se ti vo wu za bre cla dro fli gra plo stu tri'.split(' ');
const endings = ['', '', '', 's', 'ed', 'ing'];

export function makeRankingCorpus(): RankingCorpus {
  const random = seededRandom(7);
  const below = (most: number): number => Math.floor(random() * most);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const word = (): string => Array.from({ length: 3 + below(2) }, () => pick(syllables)).join('');
  const vocabulary = Array.from({ length: 4_000 }, word);
  // Few words make up most of a text.
  const common = (): string => vocabulary[Math.floor(vocabulary.length * random() ** 3)] as string;
  const form = (stem: string): string => stem + pick(endings);
  const made = Array.from({ length: subjects }, () => ({
    words: Array.from({ length: 12 }, () => vocabulary[300 + below(3_700)] as string),
    aspects: Array.from({ length: aspectsEach }, () =>
      Array.from({ length: 6 }, () => vocabulary[300 + below(3_700)] as string),
    ),
  }));
  const placed = Array.from({ length: documents }, () => ({ subject: below(subjects), aspect: below(aspectsEach) }));
  const texts = placed.map(({ subject, aspect }) => {
    const length = 40 + Math.floor(400 * random() ** 2);
    const own = made[subject] as (typeof made)[number];
    // Texts mention other aspects of their subject, and other subjects.
    const aside = made[below(subjects)] as (typeof made)[number];
    return Array.from({ length }, () => {
      const chance = random();
      if (chance < 0.4) return pick(usual);
      if (chance < 0.5) return form(pick(own.words));
      if (chance < 0.545) return form(pick(own.aspects[aspect] as string[]));
      if (chance < 0.57) return form(pick(pick(own.aspects)));
      if (chance < 0.62) return form(pick(pick(aside.aspects)));
      return form(common());
    }).join(' ');
  });
  const asked = Array.from({ length: questions }, () => {
    const { subject, aspect } = pick(placed);
    const own = made[subject] as (typeof made)[number];
    const words = [
      ...Array.from({ length: 6 }, () => pick(usual)),
      ...Array.from({ length: 2 }, () => form(pick(own.words))),
      ...Array.from({ length: 2 }, () => form(pick(own.aspects[aspect] as string[]))),
      ...Array.from({ length: 2 }, () => form(common())),
    ];
    const relevant = placed.flatMap((one, index) => (one.subject === subject && one.aspect === aspect ? [index] : []));
    return { text: words.toSorted(() => random() - 0.5).join(' '), relevant: new Set(relevant) };
  });
  return { documents: texts.map((text, index) => ({ name: `text-${index}.txt`, text })), questions: asked };
}

/** Normalized discounted cumulative gain of the first eight results. */
export function gainOf(found: readonly number[], relevant: ReadonlySet<number>): number {
  const discount = (place: number): number => 1 / Math.log2(place + 2);
  const gain = found.slice(0, 8).reduce((sum, id, place) => sum + (relevant.has(id) ? discount(place) : 0), 0);
  const ideal = Array.from({ length: Math.min(8, relevant.size) }, (_, place) => discount(place));
  return gain / ideal.reduce((sum, one) => sum + one, 0);
}

import { seededRandom } from '../../../contracts/test/seeded-random.ts';
