import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { skillEndpoints } from '@homeport/contracts/skills';
import type { Deps } from '../deps.ts';
import type { FormSink } from '../http/body/form-body.ts';
import { type Handler, sourceOf } from '../http/handler.ts';
import { readRefusal } from '../workspaces/daemon-client.ts';
import { pathQuery, withFiles } from '../workspaces/files.ts';
import { readNotes } from '../workspaces/notes.ts';
import { changeShippedSkill, listShippedSkills } from './shipped-skills.ts';
import {
  assertMayAddSkill,
  createSkill,
  listSkills,
  deleteSkill as removeSkill,
  replaceSkill,
  updateSkill,
} from './skill-library.ts';
import type { SkillPackage } from './skill-package.ts';
import { readSkillInSandbox } from './skill-reader.ts';
import { readSkillFiles, trustSkill } from './skill-trust.ts';
import { readSkills } from './skills.ts';

type HandlerDeps = Pick<Deps, 'db' | 'workspaces' | 'sandbox'>;
type SkillHandler<Name extends keyof typeof skillEndpoints> = Handler<HandlerDeps, (typeof skillEndpoints)[Name]>;

/** Until the head of the archive: the folder is counted first. */
const packingMs = 60_000;

/** GET /api/skills */
export const getSkills: SkillHandler<'getSkills'> = async (deps, { actor, query, request }) => {
  const isFirst = query.cursor === undefined && deps.workspaces.mode !== 'disabled';
  const [page, shipped, known] = await Promise.all([
    listSkills(deps, actor, query),
    query.cursor === undefined ? listShippedSkills(deps.db.kysely, actor.id) : [],
    isFirst ? readNotes(deps, actor.id, request.signal) : undefined,
  ]);
  const workspace = known?.notes === undefined ? [] : readSkills(known.notes, '~');
  return { ...page, shipped, workspace: workspace.map(({ name, description, path }) => ({ name, description, path })) };
};

/** PATCH /api/skills/shipped */
export const patchShippedSkill: SkillHandler<'patchShippedSkill'> = async (deps, input) => ({
  skill: await changeShippedSkill(deps, input.actor, input.body, sourceOf(input)),
});

/** POST /api/skills */
export const postSkill: SkillHandler<'postSkill'> = async (deps, input) => {
  const { fields, taken } = await input.form.receive(
    sinkFor(deps, { userId: input.actor.id, signal: input.request.signal }),
  );
  const { id, ...sharing } = fields;
  const source = sourceOf(input);
  if (id !== undefined) return { skill: await replaceSkill(deps, input.actor, id, taken, source) };
  return { skill: await createSkill(deps, input.actor, sharing, taken, source) };
};

/** POST /api/skills/from-workspace */
export const postSkillFromWorkspace: SkillHandler<'postSkillFromWorkspace'> = async (deps, input) => {
  const { path, ...sharing } = input.body;
  const folder = path.replace(/\/SKILL\.md$/, '');
  await assertMayAddSkill(deps, input.actor, sharing);
  const bytes = await withFiles(deps, input.actor.id, input.request.signal, async ({ daemon, signal }) => {
    const init = { signal, headersTimeoutMs: packingMs };
    const answer = await daemon.request(`/v1/files/archive?${pathQuery(folder)}`, init);
    try {
      if (answer.status !== 200) throw await readRefusal(answer, signal);
      return await gather(answer.body);
    } finally {
      answer.body.destroy();
    }
  });
  const who = { userId: input.actor.id, signal: input.request.signal };
  const content = await readSkillInSandbox(deps.sandbox, bytes, who);
  return { skill: await createSkill(deps, input.actor, sharing, content, sourceOf(input)) };
};

/** PATCH /api/skills */
export const patchSkill: SkillHandler<'patchSkill'> = async (deps, input) => ({
  skill: await updateSkill(deps, input.actor, input.body, sourceOf(input)),
});

/** DELETE /api/skills */
export const deleteSkill: SkillHandler<'deleteSkill'> = async (deps, input) => {
  await removeSkill(deps, input.actor, input.query.id, sourceOf(input));
  return { ok: true };
};

/** GET /api/skills/files */
export const getSkillFiles: SkillHandler<'getSkillFiles'> = (deps, { actor, query }) =>
  readSkillFiles(deps, actor, query.id);

/** POST /api/skills/trust */
export const postSkillTrust: SkillHandler<'postSkillTrust'> = async (deps, input) => ({
  skill: await trustSkill(deps, input.actor, input.body, sourceOf(input)),
});

function sinkFor(
  { sandbox }: Pick<Deps, 'sandbox'>,
  who: { userId: string; signal: AbortSignal },
): FormSink<unknown, SkillPackage> {
  return {
    take: async ({ bytes }) => readSkillInSandbox(sandbox, await gather(bytes), who),
    drop: async () => undefined,
  };
}

/** Throws `payload_too_large`. */
async function gather(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > limits.skillUploadBytes) {
      throw new ApiError('payload_too_large', `A skill is uploaded with at most ${limits.skillUploadBytes} bytes`);
    }
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}
