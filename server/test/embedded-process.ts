// Keeps an embedded database until SIGTERM. Argument: JSON options of startEmbedded without log. Prints one JSON line
// per event.
import { startEmbedded } from '../src/db/embedded/embedded.ts';

const say = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);
const log = {
  debug: () => undefined,
  info: (_details: object, message: string) => say({ message }),
  warn: (_details: object, message: string) => say({ message }),
  error: (_details: object, message: string) => say({ message }),
};

try {
  const embedded = await startEmbedded({ ...JSON.parse(process.argv[2] ?? '{}'), log });
  process.once('SIGTERM', () => void embedded.stop().then(() => process.exit(0)));
  say({ connection: embedded.connection });
} catch (error) {
  say({ failed: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
