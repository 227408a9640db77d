import { version } from './config.ts';
import { backupCommands } from './operations/backup-commands.ts';
import { runCommand } from './operations/command.ts';
import { doctorCommand } from './operations/doctor-command.ts';
import { importCommands } from './operations/import-command.ts';
import { keyCommands } from './operations/key-commands.ts';
import { peopleCommands } from './operations/people-commands.ts';

/** Every command of the operator, in the order in which they are listed. */
const commands = [...backupCommands, doctorCommand, ...peopleCommands, ...importCommands, ...keyCommands];

process.exitCode = await runCommand(commands, process.argv.slice(2), version);
