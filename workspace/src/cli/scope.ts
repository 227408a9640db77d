import type { Config } from './config.ts';
import { usage } from './failure.ts';

const shape = /^(?:chat|project):[A-Za-z0-9_-]{1,128}$/;

/** The namespace that a command uses: --chat or --project, otherwise the environment's. */
export function scopeOf(config: Config, chat: string | undefined, project: string | undefined): string {
  if (chat !== undefined && project !== undefined) throw usage('Give --chat or --project, not both');
  const given = chat === undefined ? project && `project:${project}` : `chat:${chat}`;
  const scope = given ?? config.scope;
  if (scope === undefined) {
    throw usage(
      'Missing conversation or project',
      'Add --chat <id> or --project <id>. `homeport conversations` lists the ids of conversations.',
    );
  }
  if (!shape.test(scope)) {
    throw usage(
      given === undefined ? 'HOMEPORT_SCOPE is neither chat:<id> nor project:<id>' : 'This is not a valid id',
    );
  }
  return scope;
}

/** The conversation that the command runs for, if the environment names one. */
export function currentChat({ scope }: Config): string {
  if (scope?.startsWith('chat:') && shape.test(scope)) return scope.slice('chat:'.length);
  throw usage('HOMEPORT_SCOPE does not name a conversation', 'Give its id: `homeport conversations` lists them.');
}
