import { version } from './config.ts';
import { runCommand } from './operations/command.ts';
import { commands } from './operations/commands.ts';

process.exitCode = await runCommand(commands, process.argv.slice(2), version);
