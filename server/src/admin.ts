import { runCommand } from './commands/command.ts';
import { commands } from './commands/commands.ts';
import { version } from './config/config.ts';

process.exitCode = await runCommand(commands, process.argv.slice(2), version);
