// For node --test: one line per failing test with its reason, one per file, and the counts into the file HOMEPORT_TEST_COUNTS.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { inspect } from 'node:util';

export default async function* report(source) {
  const crashed = [];
  for await (const { type, data } of source) {
    // A whole file that fails by itself has lost its process: nothing says which test it was.
    if (type === 'test:fail' && data.file !== undefined && data.name === place(data.file)) crashed.push(data.name);
    if (type === 'test:fail' && data.details?.type !== 'suite') yield failure(data);
    else if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    else if (type === 'test:diagnostic' && data.level === 'error') yield `  ${data.message}\n`;
    else if (type === 'test:summary' && data.file !== undefined) yield fileLine(data);
    else if (type === 'test:summary') writeCounts(data.counts, crashed);
  }
}

function failure({ name, file, line, details }) {
  const error = details?.error?.cause ?? details?.error;
  const reason = error instanceof Error ? (error.stack ?? error.message) : inspect(error);
  const indented = reason.split('\n').map((text) => `        ${text}`);
  return `  FAIL  ${name} (${place(file)}:${line})\n${indented.join('\n')}\n`;
}

function fileLine({ file, counts, duration_ms: milliseconds, success }) {
  const seconds = (milliseconds / 1000).toFixed(1);
  return `  ${success ? 'ok  ' : 'FAIL'}  ${place(file)} (${counts.tests} tests, ${seconds} s)\n`;
}

function place(file) {
  return file === undefined ? '' : relative(process.cwd(), file);
}

function writeCounts({ passed, failed, cancelled, skipped, todo }, crashed) {
  const target = process.env.HOMEPORT_TEST_COUNTS;
  if (target === undefined) return;
  writeFileSync(target, JSON.stringify({ passed, failed: failed + cancelled, skipped: skipped + todo, crashed }));
}
