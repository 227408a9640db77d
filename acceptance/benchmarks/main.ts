import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Bench } from './bench.ts';
import { measureAnswers, measureAnswersWithWorkspaces } from './parts/answers.ts';
import { measureArtifacts } from './parts/artifacts.ts';
import { measureBackup } from './parts/backup.ts';
import { measureCapacity } from './parts/capacity.ts';
import { measureCapacityModel } from './parts/capacity-model.ts';
import { measureFirstToken } from './parts/first-token.ts';
import { measureGateway } from './parts/gateway.ts';
import { measureMemory } from './parts/memory.ts';
import { measureConversation } from './parts/page-conversation.ts';
import { measureLoad } from './parts/page-load.ts';
import { measureThread } from './parts/page-thread.ts';
import { measureReads } from './parts/reads.ts';
import { measureSignIns } from './parts/sign-ins.ts';
import { measureBrowser, measureSize } from './parts/size.ts';
import { measureIdle, measureStart } from './parts/start.ts';
import { measureStop } from './parts/stop.ts';
import { measureTokens } from './parts/tokens.ts';
import { measureWorkspace } from './parts/workspace-start.ts';
import { Report } from './report.ts';
import { pinSelf } from './servers/processes.ts';

type Part = { question: string; measures: readonly ((bench: Bench) => Promise<void>)[] };

const parts: Record<string, Part> = {
  answers: {
    question: 'How much CPU does an answer cost, next to a bare proxy and a minimal application?',
    measures: [measureAnswers, measureAnswersWithWorkspaces],
  },
  gateway: {
    question: 'How much CPU does a call of /v1 cost, next to a bare proxy?',
    measures: [measureGateway],
  },
  latency: {
    question: 'How much later than the provider does text arrive, and how soon does Stop take effect?',
    measures: [measureTokens, measureFirstToken, measureStop],
  },
  capacity: {
    question: 'How many answers can one core stream at once, and how much memory does each take?',
    measures: [measureCapacity, measureMemory],
  },
  'capacity-model': {
    question: 'How do the costs of an installation grow with its load (docs/scaling.md)?',
    measures: [measureCapacityModel],
  },
  requests: {
    question: 'How many requests can one core answer, and do lists stay fast with 100,000 conversations?',
    measures: [measureReads],
  },
  'sign-ins': { question: 'How long does it take when 200 people sign in at once?', measures: [measureSignIns] },
  files: {
    question: 'How fast are uploads and downloads, and do lists of files stay fast?',
    measures: [measureArtifacts],
  },
  backup: { question: 'How long do a backup and a restore take, and how much memory?', measures: [measureBackup] },
  workspaces: {
    question: 'How long do workspaces take to start and stop, and what do idle ones cost?',
    measures: [measureWorkspace],
  },
  start: {
    question: 'How soon is a started server healthy, and how much memory and disk does it take?',
    measures: [measureStart, measureIdle, measureSize],
  },
  pages: {
    question: 'How large is the page, how soon is it usable, and does it stay smooth during an answer?',
    measures: [measureBrowser, measureLoad, measureThread, measureConversation],
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    messages: { type: 'string', default: '20000' },
    'files-mib': { type: 'string', default: '200' },
    dist: { type: 'string', default: join(import.meta.dirname, '../../dist') },
    help: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(parts, name));
if (values.help || unknown.length > 0) {
  for (const name of unknown) console.error(`There is no part named ${name}.`);
  console.error(`npm run bench -- [part] ... [--quick] [--profile] [--dist <folder of another build>]
  backup: [--messages <count>] [--files-mib <size>]

${Object.entries(parts)
  .map(([name, { question }]) => `  ${name.padEnd(15)} ${question}`)
  .join('\n')}`);
  process.exit(values.help ? 0 : 2);
}

pinSelf();
const report = new Report();
const sizes = { messages: Number(values.messages), filesMib: Number(values['files-mib']) };
const bench = new Bench({ quick: values.quick, profile: values.profile, dist: resolve(values.dist), report, sizes });
const startedAt = performance.now();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
console.log('P: a bare pass-through proxy. M: a minimal Hono and pg application. Medians of interleaved rounds.\n');
report.header();
for (const [name, { measures }] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  for (const measure of measures) await measure(bench).catch((error: unknown) => report.fail(name, error));
}
await bench.stop();
const seconds = Math.round((performance.now() - startedAt) / 1000);
const path = report.write({ quick: values.quick, seconds });
const missed = report.rows.filter((row) => row.met === false).length;
console.log(
  `\n${missed} of ${report.rows.filter((row) => row.met !== undefined).length} targets missed, ${seconds} s. ${path}`,
);
process.exit(report.failures.length > 0 ? 1 : 0);
