import { Tokenizer } from 'marked';

/** Marks of emphasis in one run of text above which they are only characters. */
const maximumMarks = 400;

/** marked looks for the partner of each mark through the whole run: the square of their number, seconds for a hostile line. */
export class BoundedTokenizer extends Tokenizer {
  #run = '';
  #isDense = false;

  override emStrong(
    ...[source, masked, previous]: Parameters<Tokenizer['emStrong']>
  ): ReturnType<Tokenizer['emStrong']> {
    return this.#hasTooMany(masked) ? undefined : super.emStrong(source, masked, previous);
  }

  override del(...[source, masked, previous]: Parameters<Tokenizer['del']>): ReturnType<Tokenizer['del']> {
    return this.#hasTooMany(masked) ? undefined : super.del(source, masked, previous);
  }

  #hasTooMany(run: string): boolean {
    if (run !== this.#run) {
      this.#run = run;
      this.#isDense = (run.match(/[*_~]+/g)?.length ?? 0) > maximumMarks;
    }
    return this.#isDense;
  }
}
