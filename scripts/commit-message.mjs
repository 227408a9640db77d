// Checks the first line of a commit message: `type(scope): verb the thing`, at most 72 characters. The commit-msg hook
// runs this with the file of the message. Plain JavaScript for Node 18, without packages.
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isImperative } from './language/imperatives.mjs';

const types = ['feat', 'fix', 'perf', 'refactor', 'test', 'docs', 'build', 'ci'];
const longest = 72;
const form = /^([a-z]+)\(([a-z0-9._-]+(?:\/[a-z0-9._-]+)*)\): (\S.*)$/;
// Git writes these itself; a fixup disappears with the next rebase.
const writtenByGit = /^(?:Merge |Revert "|(?:fixup|squash|amend)! )/;

/** The problems of a commit message, as lines for its author; empty if it is fine. */
export function checkCommitMessage(text) {
  const subject = text.split('\n').find((line) => !line.startsWith('#')) ?? '';
  if (writtenByGit.test(subject)) return [];
  const problems = [];
  if ([...subject].length > longest)
    problems.push(`the first line has ${[...subject].length} characters: at most ${longest}`);
  const [, type, , summary] = form.exec(subject) ?? [];
  if (type === undefined) return [...problems, 'the first line needs the form type(scope): verb the thing'];
  if (!types.includes(type)) problems.push(`${type} is not a type: use ${types.join(', ')}`);
  const [verb] = summary.split(/[\s,:]/);
  if (!isImperative(verb)) {
    problems.push(
      `"${verb}" is not an imperative verb: write add, remove, keep, … (a missing verb goes into scripts/language/imperatives.mjs)`,
    );
  }
  if (summary.endsWith('.')) problems.push('the first line ends without a period');
  const second = text.split('\n')[1];
  if (second !== undefined && second.trim() !== '' && !second.startsWith('#') && text.startsWith(subject)) {
    problems.push('the second line must be empty');
  }
  return problems;
}

function main(file) {
  const problems = checkCommitMessage(readFileSync(file, 'utf8'));
  for (const problem of problems) console.error(`commit message: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main(process.argv[2]);
