import { randomUUIDv7 } from 'node:crypto';
import type { EndpointName } from '@homeport/contracts/endpoints';
import { nothing, type Sample } from './authorization-sample.ts';

/** Requests about assistants, saved prompts and skills. */

const references: Sample['ids'] = {
  'body.projectId': { names: 'project', request: () => ({ body: { name: 'new', text: 'Text', audience: 'project' } }) },
};
const assistantReferences: Sample['ids'] = {
  'body.modelId': { names: 'model' },
  'body.mcpServerIds.*': { names: 'mcpServer' },
};
const newName = () => `new-${randomUUIDv7()}`;
const newSkill = () => `---\nname: ${newName()}\ndescription: New.\n---\nText`;

export const assistantSamples = {
  getAssistants: {
    request: ({ records }) => ({ query: { id: records.assistant } }),
    own: 200,
    ids: { 'query.id': { names: 'assistant' } },
  },
  postAssistant: {
    request: ({ records }) => ({ body: { name: 'New', modelId: records.model, mcpServerIds: [records.mcpServer] } }),
    own: 201,
    ids: { ...references, ...assistantReferences },
  },
  patchAssistant: {
    request: ({ records }) => ({ body: { id: records.assistant, name: 'Renamed' } }),
    own: 200,
    ids: {
      'body.id': { names: 'assistant' },
      'body.projectId': {
        names: 'project',
        request: ({ records }) => ({ body: { id: records.assistant, audience: 'project' } }),
      },
      ...assistantReferences,
    },
  },
  deleteAssistant: {
    request: ({ records }) => ({ query: { id: records.assistant } }),
    own: 200,
    ids: { 'query.id': { names: 'assistant' } },
  },
  getAssistantVersions: {
    request: ({ records }) => ({ query: { id: records.assistant } }),
    own: 200,
    ids: { 'query.id': { names: 'assistant' } },
  },
  getPrompts: nothing,
  postPrompt: { request: () => ({ body: { name: newName(), text: 'Text' } }), own: 201, ids: references },
  patchPrompt: {
    request: ({ records }) => ({ body: { id: records.prompt, title: 'Renamed' } }),
    own: 200,
    ids: {
      'body.id': { names: 'prompt' },
      'body.projectId': {
        names: 'project',
        request: ({ records }) => ({ body: { id: records.prompt, audience: 'project' } }),
      },
    },
  },
  deletePrompt: {
    request: ({ records }) => ({ query: { id: records.prompt } }),
    own: 200,
    ids: { 'query.id': { names: 'prompt' } },
  },
  getSkills: nothing,
  postSkill: {
    request: () => ({ form: {}, file: newSkill() }),
    own: 201,
    ids: {
      'form.id': { names: 'skill', request: () => ({ form: {}, file: newSkill() }) },
      'form.projectId': { names: 'project', request: () => ({ form: { audience: 'project' }, file: newSkill() }) },
    },
  },
  // There is no workspace here.
  postSkillFromWorkspace: {
    request: () => ({ body: { path: '~/skills/new' } }),
    own: 503,
    ids: {
      'body.projectId': { names: 'project', request: () => ({ body: { path: '~/skills/new', audience: 'project' } }) },
    },
  },
  patchSkill: {
    request: ({ records }) => ({ body: { id: records.skill, enabled: false } }),
    own: 200,
    ids: {
      'body.id': { names: 'skill' },
      'body.projectId': {
        names: 'project',
        request: ({ records }) => ({ body: { id: records.skill, audience: 'project' } }),
      },
    },
  },
  patchShippedSkill: {
    request: () => ({ body: { name: 'research', audience: 'me', enabled: false } }),
    own: 200,
    ids: {},
  },
  deleteSkill: {
    request: ({ records }) => ({ query: { id: records.skill } }),
    own: 200,
    ids: { 'query.id': { names: 'skill' } },
  },
  getSkillFiles: {
    request: ({ records }) => ({ query: { id: records.skill } }),
    own: 200,
    ids: { 'query.id': { names: 'skill' } },
  },
  postSkillTrust: {
    request: ({ records }) => ({ body: { id: records.skill, fingerprint: null } }),
    own: 200,
    ids: { 'body.id': { names: 'skill' } },
  },
  postPromptUsed: {
    request: ({ records }) => ({ body: { id: records.prompt } }),
    own: 200,
    ids: { 'body.id': { names: 'prompt' } },
  },
} satisfies Partial<Record<EndpointName, Sample>>;
