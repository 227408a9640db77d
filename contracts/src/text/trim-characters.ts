/** The text without any of `characters` at its end. Linear, unlike a pattern such as `/\/+$/`, which backtracks. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text without any of `characters` at its beginning and end. */
export function trimOf(text: string, characters: string): string {
  const rest = trimEndOf(text, characters);
  let start = 0;
  while (start < rest.length && characters.includes(rest.charAt(start))) start += 1;
  return rest.slice(start);
}

/** The text before the first `mark`, or all of it. */
export function beforeFirst(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at === -1 ? text : text.slice(0, at);
}
