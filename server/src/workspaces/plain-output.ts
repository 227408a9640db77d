// Colors and cursor movements of programs that take a pipe for a terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins them.
const escapes = /\u001b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/** A program's output as text, without escape sequences. */
export function plainOutput(text: string): string {
  return text.replace(escapes, '');
}
