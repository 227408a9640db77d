import { findHits, type Hit } from '@homeport/contracts/text/search-words';

/** A text with search words marked in it, or with known hits. */
export function Highlighted({
  text,
  words,
  known,
}: {
  text: string;
  words: readonly string[];
  known?: readonly Hit[];
}) {
  const hits = known ?? (words.length === 0 ? [] : findHits(text, words));
  if (hits.length === 0) return text;
  return (
    <>
      {hits.map(({ start, end }, index) => (
        <span key={start}>
          {text.slice(hits[index - 1]?.end ?? 0, start)}
          <mark className="hit">{text.slice(start, end)}</mark>
        </span>
      ))}
      {text.slice(hits.at(-1)?.end)}
    </>
  );
}
