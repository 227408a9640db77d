// For node --test: prints one line per failing test with its reason and one per file, and writes the counts of each
// file, and which files passed, to HOMEPORT_TEST_COUNTS.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { inspect } from 'node:util';

export default async function* report(source) {
  const counts = {};
  const passed = new Set();
  const lost = new Set();
  for await (const { type, data } of source) {
    // A whole file that fails has lost its process: nothing says which test it was.
    if (type === 'test:fail' && [data.file, place(data.file)].includes(data.name)) lost.add(place(data.file));
    if (type === 'test:fail' && data.details?.type !== 'suite') yield failure(data);
    else if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    else if (type === 'test:diagnostic' && (data.level === 'error' || isLate(data))) yield `  ${data.message}\n`;
    else if (type === 'test:summary' && data.file !== undefined) {
      counts[place(data.file)] = data.counts;
      if (data.success) passed.add(place(data.file));
      yield fileLine(data);
    }
  }
  writeCounts(counts, [...passed.difference(lost)]);
}

/** What a file threw after its tests arrives only as a remark. */
function isLate({ message }) {
  return message.includes('asynchronous activity after the test ended');
}

function failure({ name, file, line, details }) {
  const error = details?.error?.cause ?? details?.error;
  const ended = details?.error?.exitCode === undefined ? '' : ending(details.error);
  const reason = (error instanceof Error ? (error.stack ?? error.message) : inspect(error)) + ended;
  const indented = reason.split('\n').map((text) => `        ${text}`);
  return `  FAIL  ${name} (${place(file)}:${line})\n${indented.join('\n')}\n`;
}

function ending({ exitCode, signal }) {
  return `: the process ended with ${signal ?? `code ${exitCode}`}`;
}

function fileLine({ file, counts, duration_ms: milliseconds, success }) {
  const seconds = (milliseconds / 1000).toFixed(1);
  return `  ${success ? 'ok  ' : 'FAIL'}  ${place(file)} (${counts.tests} tests, ${seconds} s)\n`;
}

function place(file) {
  return file === undefined ? '' : relative(process.cwd(), file);
}

function writeCounts(counts, passed) {
  const target = process.env.HOMEPORT_TEST_COUNTS;
  if (target !== undefined) writeFileSync(target, JSON.stringify({ counts, passed }));
}
