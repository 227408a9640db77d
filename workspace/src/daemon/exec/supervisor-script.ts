import { readFileSync } from 'node:fs';

/** The parent of one command, in Perl. The build puts the file's text here: the daemon is one file. */
export const supervisorScript = readFileSync(new URL('./supervisor.pl', import.meta.url), 'utf8');
