import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { findingsIn } from './language/findings.mjs';
import { unitsOf } from './language/units.mjs';
import { checkLanguage } from './text-rules.mjs';

/** `[kind, text, rule]`, one violation each. */
const bad = [
  ['comment', 'What a daemon is allowed of what its programs do.', 'opener'],
  ['comment', 'Who may call (section 3).', 'opener'],
  ['comment', 'Whose catalogue a request is about: every handler calls this function.', 'opener'],
  ['comment', 'Whoever asks later is refused.', 'opener'],
  ['comment', 'Where nothing is set, the default counts.', 'opener'],
  ['comment', 'Those of the active branch, oldest first.', 'opener'],
  ['comment', 'Nobody knows whether it was saved.', 'opener'],
  ['comment', 'Whatever has ended is kept until the database is back.', 'opener'],
  ['comment', 'A limited number at once. What waits is answered later.', 'opener'],
  ['comment', '- What links point to is counted.', 'opener'],
  ['comment', 'Where `PORT` is set, it listens there.', 'opener'],
  ['test name', 'what is wrong is refused with its path, and nothing is applied', 'opener'],
  ['test name', 'who lacks the model gets a notice', 'opener'],
  ['heading', 'What gives first, and the answer', 'opener'],
  ['heading', 'Who can read it', 'opener'],
  ['help', 'What it cannot read has to be entered again.', 'opener'],
  ['summary', 'Where the user is signed in', 'opener'],
  ['prompt', 'What a command leaves running is ended with it.', 'opener'],
  ['log', 'nobody received the error of a stream', 'opener'],
  ['test name', 'an account deletes itself; what is shared stays', 'clause'],
  ['summary', 'Deletes the account, and what is shared stays with its project', 'clause'],
  ['comment', 'The lists are merged, what comes twice is dropped.', 'clause'],
  ['comment', 'It checks that what is stored is still valid.', 'clause'],
  ['log', 'a client was told to come back later', 'idiom'],
  ['comment', 'The header may be missing.', 'idiom'],
  ['comment', 'Ended when nobody reads it.', 'idiom'],
  ['comment', 'A key of somebody else is refused.', 'idiom'],
  ['comment', 'Hears of changes at other devices.', 'idiom'],
  ['comment', 'Sends the rest of the frames.', 'idiom'],
  ['comment', 'The request fails when it is out of patience.', 'idiom'],
  ['comment', 'Lets other work take a breath.', 'idiom'],
  ['comment', 'Lists the tools anew.', 'idiom'],
  ['comment', 'The import goes on after the restart.', 'idiom'],
  ['prompt', 'This is no export that Homeport can read.', 'idiom'],
  ['help', 'Shut an account out immediately.', 'idiom'],
  ['comment', 'The server says when the lease ends.', 'idiom'],
  ['docs', 'The colour of the logo.', 'spelling'],
  ['comment', 'Cancelled requests are dropped.', 'spelling'],
  ['help', 'Print the licences of all packages.', 'spelling'],
  ['test name', 'keeps the favourite models of each browser', 'spelling'],
];

/** `[kind, text]` without a violation. */
const good = [
  ['comment', 'Counting semaphore with a FIFO queue.'],
  ['comment', 'Yields to the event loop every 500,000 characters.'],
  ['comment', 'A complete response, built before the first byte is written.'],
  ['comment', 'Environment variables that carry permissions to the daemon.'],
  ['comment', 'Treat an unparsed command as matching every ask or deny pattern.'],
  ['comment', 'Subscribes to activity on other devices. Returns an unsubscribe function.'],
  ['comment', 'Restores a backup into an empty installation.'],
  ['comment', 'The folder where the archive is unpacked.'],
  ['comment', 'The user whose catalogue is edited, who owns all of its providers.'],
  ['comment', 'Reports what the provider sent and where the stream ended.'],
  ['comment', 'Decides who can read a file.'],
  ['comment', 'True while the workspace is running; false otherwise.'],
  ['comment', 'At most 15 s (RFC 9110, section 10.2.3); `nobody` is a Unix account.'],
  ['comment', 'Sends `notifications/cancelled` when the request is aborted.'],
  ['comment', "The state 'cancelled' of a queued input."],
  ['comment', 'Throws `not_found` for a missing record, and for one of another user.'],
  ['comment', 'Reads "What is this?" as one token.'],
  ['comment', 'Skips those entries that are already stored.'],
  ['comment', 'Compares cancelledAt with the time of the request.'],
  ['comment', 'See https://example.org/colour/what-is-it for the format.'],
  ['comment', 'WHERE clauses name the owner.'],
  ['comment', 'The color of the theme, and the behavior of the menu.'],
  ['comment', 'Waits until the deadline, then retries with backoff.'],
  ['comment', 'Handles each model that the catalogue lists.'],
  ['comment', 'Whether the request carries a body.'],
  ['test name', 'rejects an invalid manifest with the failing path and applies nothing'],
  ['test name', 'closes for good when the shell exits, another window takes over, or reconnecting keeps failing'],
  ['test name', 'resumes a stream after the last event that the client received'],
  ['test name', 'shows where each session was started'],
  ['heading', 'Bottlenecks and how to remove them'],
  ['heading', 'Sign-in problems'],
  ['heading', 'What if the encryption key is lost?'],
  ['heading', 'Who can see my files?'],
  ['help', 'Disable an account immediately. Its data is kept.'],
  ['help', 'List the accounts, newest first.'],
  ['prompt', 'Processes left running are killed when the command exits. Set `background: true` to keep one.'],
  ['prompt', 'Unrecognized export. Homeport can import from ChatGPT and Claude.'],
  ['log', 'unhandled stream error'],
  ['log', 'the free space of DATA_DIR could not be read'],
  ['docs', 'Where workspaces are off, what is shown is a notice.'],
];

test('finds each of 40 bad texts', () => {
  assert.equal(bad.length, 40);
  for (const [kind, text, rule] of bad) {
    const rules = findingsIn(kind, text).map((finding) => finding.rule);
    assert.ok(rules.includes(rule), `${kind} "${text}": ${rules.join() || 'nothing found'}`);
  }
});

test('passes each of 40 good texts', () => {
  assert.equal(good.length, 40);
  for (const [kind, text] of good) assert.deepEqual(findingsIn(kind, text), [], `${kind} "${text}"`);
});

/** `§` in a source stands for `$`. */
const kindsIn = (file, source) =>
  unitsOf(file, source.replaceAll('§', '$')).map(({ kind, text, line }) => `${line} ${kind}: ${text.trim()}`);

test('reads comments, test names, logs, help, prompts, summaries and headings, and no other strings', () => {
  assert.deepEqual(
    kindsIn(
      'server/src/a.ts',
      [
        '/** A doc',
        ' * comment. */',
        "const url = 'http://x//y'; // first",
        '           // second',
        'const path = /[/\'"`]/; // a regular expression with quotes',
        "deps.log.warn({ cause }, `disk §{count(`full`, 'no log at all')} is full`);",
        "const other = 'some text of a page';",
      ].join('\n'),
    ),
    [
      '1 comment: A doc\ncomment.',
      '3 comment: first',
      '4 comment: second',
      '5 comment: a regular expression with quotes',
      '6 log: disk … is full',
    ],
  );
  assert.deepEqual(
    kindsIn(
      'server/test/a.test.ts',
      "test('keeps a name', async (t) => {\n  await t.test(`§{kind} works`, f);\n});\nsay('no name at all');",
    ),
    ['1 test name: keeps a name', '2 test name: … works'],
  );
  assert.deepEqual(kindsIn('contracts/src/a.ts', "endpoint({ summary: 'All users of it', path: 'a b c' })"), [
    '1 summary: All users of it',
  ]);
  assert.deepEqual(kindsIn('server/src/chat/tools/a.ts', "const description = 'Runs a command';"), [
    '1 prompt: Runs a command',
  ]);
  assert.deepEqual(kindsIn('server/src/commands/people-commands.ts', "{ summary: 'List the accounts.' }"), [
    '1 help: List the accounts.',
  ]);
  assert.deepEqual(kindsIn('docs/a.md', '# Title\n\nText.\n\n```sh\n# no heading\n```\n'), [
    '1 heading: Title',
    '3 docs: Text.',
  ]);
  assert.deepEqual(kindsIn('deploy/a.sh', '#!/bin/sh\n# Starts it\necho "a#b" # now\n'), [
    '2 comment: Starts it',
    '3 comment: now',
  ]);
  assert.deepEqual(kindsIn('docs/spec/contract.md', '# What is decided\n'), []);
});

const root = mkdtempSync(join(tmpdir(), 'homeport-language-'));
after(() => rmSync(root, { recursive: true }));

test('reports file and line of each finding below the given paths', () => {
  const write = (file, text) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  write('server/src/a.ts', '\n/**\n * Reads a file.\n *\n * What is missing is skipped.\n */\n');
  write('web/src/b.tsx', "// Its colour.\nexport const b = <p>don’t, can't</p>;\n");
  const placesOf = (paths) => checkLanguage(root, paths).map(({ file, line, rule }) => `${file}:${line} ${rule}`);
  assert.deepEqual(placesOf(['']), ['server/src/a.ts:5 opener', 'web/src/b.tsx:1 spelling']);
  assert.deepEqual(placesOf(['web']), ['web/src/b.tsx:1 spelling']);
});
