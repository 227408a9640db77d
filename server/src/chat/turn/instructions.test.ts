import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InstructionSources, instructionTexts, systemText } from './instructions.ts';

const none: InstructionSources = {
  installation: '',
  assistant: undefined,
  project: undefined,
  person: null,
  conversation: null,
  about: {},
  userName: 'Ada Lovelace',
  tools: [],
  hasWorkspace: false,
  toolNotes: [],
  now: Date.parse('2026-11-22T23:30:00Z'),
};
const text = (sources: Partial<InstructionSources>) => systemText(instructionTexts({ ...none, ...sources }));
const moment = '# Now\n\n- You have no tools.\n- Today is Sunday, 22 November 2026.';

test('puts each layer alone before the facts of the moment, under a heading that names its source', () => {
  assert.equal(text({}), moment);
  assert.equal(text({ installation: 'Be kind.' }), `Be kind.\n\n${moment}`);
  assert.equal(text({ assistant: { name: 'Editor', text: 'Cut.' } }), `# You are "Editor"\n\nCut.\n\n${moment}`);
  assert.equal(text({ project: { name: 'Moon', text: 'Metric.' } }), `# The project "Moon"\n\nMetric.\n\n${moment}`);
  assert.equal(text({ person: 'Short.' }), `# From the person you are talking to\n\nShort.\n\n${moment}`);
  assert.equal(text({ conversation: 'Rhyme.' }), `# For this conversation\n\nRhyme.\n\n${moment}`);
});

test('orders all layers by how rarely they change', () => {
  const layers = instructionTexts({
    ...none,
    installation: '1',
    assistant: { name: 'a', text: '2' },
    project: { name: 'p', text: '3' },
    person: '4',
    conversation: '5',
  });
  assert.deepEqual(
    layers.map(({ layer }) => layer),
    ['installation', 'assistant', 'project', 'person', 'conversation', 'moment'],
  );
});

test('changes the day at midnight of each time zone, including those off by a quarter of an hour', () => {
  const today = (timeZone: string, at: string) =>
    /Today is (\w+)/.exec(text({ about: { timeZone }, now: Date.parse(at) }))?.[1];
  for (let time = 0; time < 2; time++) {
    assert.equal(today('Asia/Kathmandu', '2026-11-22T18:14:59.999Z'), 'Sunday');
    assert.equal(today('Asia/Kathmandu', '2026-11-22T18:15:00Z'), 'Monday');
    assert.equal(today('UTC', '2026-11-22T18:15:00Z'), 'Sunday');
    assert.equal(today('UTC', '2026-11-23T00:00:00Z'), 'Monday');
    assert.equal(today('America/St_Johns', '2026-11-23T03:29:59Z'), 'Sunday');
    assert.equal(today('America/St_Johns', '2026-11-23T03:30:00Z'), 'Monday');
  }
});

test('fills in variables, keeps unknown ones as typed, and reveals only permitted facts about a person', () => {
  const typed = 'Call {{user_name}} on {{ current_date }} in {{language}}, {{timezone}}; {{mood}} {{USER_NAME}}';
  assert.ok(
    text({ installation: typed }).startsWith(
      "Call the person on Sunday, 22 November 2026 in the person's language, UTC; {{mood}} {{USER_NAME}}\n",
    ),
  );
  const about = { name: true, language: 'de-AT', timeZone: 'Europe/Vienna' };
  assert.ok(
    text({ installation: typed, about }).startsWith(
      'Call Ada Lovelace on Monday, 23 November 2026 in Austrian German, Europe/Vienna; {{mood}} {{USER_NAME}}\n',
    ),
  );
});

test('lists the tools, the workspace and permitted facts in the moment, without a time of day', () => {
  const now = text({
    tools: ['bash', 'read_file'],
    hasWorkspace: true,
    about: { name: true, language: 'de', timeZone: 'UTC' },
  });
  assert.match(now, /^# Now\n\n- You have a workspace: .*publish_artifact/);
  assert.match(now, /\n- Your tools: bash, read_file\.\n- The person's name is Ada Lovelace\.\n/);
  assert.match(
    now,
    /\n- They prefer answers in German\.\n- Their time zone is UTC\.\n- Today is Sunday, 22 November 2026\.$/,
  );
  const later = { now: none.now + 29 * 60_000 };
  assert.equal(text(later), text({}));
});

test('keeps a text that refers to itself or another layer as text', () => {
  assert.ok(text({ conversation: '{{current_date}}$&$1', person: '{{{{user_name}}}}' }).includes('{{the person}}'));
  assert.ok(text({ conversation: '$&' }).includes('\n\n$&\n'));
});
