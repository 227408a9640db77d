import { backupCommands } from './backup-commands.ts';
import { doctorCommand } from './doctor-command.ts';
import { importCommands } from './import-command.ts';
import { keyCommands } from './key-commands.ts';
import { peopleCommands } from './people-commands.ts';

/** Every command of the operator, in the order in which they are listed. */
export const commands = [...backupCommands, doctorCommand, ...peopleCommands, ...importCommands, ...keyCommands];
