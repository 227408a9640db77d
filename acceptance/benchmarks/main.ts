import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAnswers, measureAnswersWithWorkspaces } from './answers.ts';
import { measureArtifacts } from './artifacts.ts';
import { measureBackup } from './backup.ts';
import { Bench } from './bench.ts';
import { measureCapacity } from './capacity.ts';
import { measureCapacityModel } from './capacity-model.ts';
import { measureDocumentSearch } from './document-search.ts';
import { measureFirstToken } from './first-token.ts';
import { measureInstructions } from './first-token-told.ts';
import { measureKinds } from './kinds.ts';
import { measureMcp } from './mcp.ts';
import { measureMemory } from './memory.ts';
import { measureConversation } from './page-conversation.ts';
import { measureLighthouse } from './page-lighthouse.ts';
import { measureList } from './page-list.ts';
import { measureLoad } from './page-load.ts';
import { measureThread } from './page-thread.ts';
import { pinSelf } from './processes.ts';
import { measureProvision } from './provision.ts';
import { measureReads } from './reads.ts';
import { Report } from './report.ts';
import { measureShell } from './shell.ts';
import { measureSignIns } from './sign-ins.ts';
import { measureBrowser, measureSize } from './size.ts';
import { measureIdle, measureStart } from './start.ts';
import { measureStop } from './stop.ts';
import { measureTokens } from './tokens.ts';
import { measureTurns } from './turns.ts';
import { measureUnpaced } from './unpaced.ts';
import { measureUploads } from './uploads.ts';
import { measureWorkspaceFiles } from './workspace-files.ts';
import { measureWorkspace } from './workspace-start.ts';

const parts: Record<string, (bench: Bench) => Promise<void>> = {
  tokens: measureTokens,
  kinds: measureKinds,
  answers: measureAnswers,
  'answers-workspaces': measureAnswersWithWorkspaces,
  'first-token': measureFirstToken,
  instructions: measureInstructions,
  stop: measureStop,
  unpaced: measureUnpaced,
  capacity: measureCapacity,
  'capacity-model': measureCapacityModel,
  turns: measureTurns,
  mcp: measureMcp,
  shell: measureShell,
  reads: measureReads,
  'sign-ins': measureSignIns,
  provision: measureProvision,
  memory: measureMemory,
  artifacts: measureArtifacts,
  uploads: measureUploads,
  backup: measureBackup,
  'document-search': measureDocumentSearch,
  'workspace-files': measureWorkspaceFiles,
  workspace: measureWorkspace,
  start: measureStart,
  idle: measureIdle,
  browser: measureBrowser,
  thread: measureThread,
  conversation: measureConversation,
  load: measureLoad,
  list: measureList,
  lighthouse: measureLighthouse,
  size: measureSize,
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
  console.error(
    `npm run bench -- [${Object.keys(parts).join(' | ')}] ... [--quick] [--profile] [--dist <folder of another build>]
  backup: [--messages <count>] [--files-mib <size>]`,
  );
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
for (const [name, measure] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  await measure(bench).catch((error: unknown) => report.fail(name, error));
}
await bench.stop();
const seconds = Math.round((performance.now() - startedAt) / 1000);
const path = report.write({ quick: values.quick, seconds });
const missed = report.rows.filter((row) => row.met === false).length;
console.log(
  `\n${missed} of ${report.rows.filter((row) => row.met !== undefined).length} targets missed, ${seconds} s. ${path}`,
);
process.exit(report.failures.length > 0 ? 1 : 0);
