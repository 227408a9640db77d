import { z } from 'zod';
import * as fields from '../fields.ts';

/** Audience of an assistant or a saved prompt (contract.md section 11, "Told to the model"). */
const audience = z.enum(['me', 'project', 'everyone']);
export type Audience = z.infer<typeof audience>;

/** Only something shared with a project names a project. */
export const projectFits = (body: { audience?: Audience; projectId?: string | null }) =>
  body.audience === undefined
    ? body.projectId === undefined || body.projectId === null
    : (body.audience === 'project') === (typeof body.projectId === 'string');
export const projectMisfit = {
  message: 'The id of the project with audience "project", and none with any other',
  path: ['projectId'],
};

export const sharing = { audience, projectId: fields.id.nullable() };
