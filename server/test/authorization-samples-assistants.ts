import { randomUUIDv7 } from 'node:crypto';
import type { EndpointName } from '@homeport/contracts/endpoints';
import { nothing, type Sample } from './authorization-sample.ts';

/** Requests about assistants and saved prompts. */

const references: Sample['ids'] = {
  'body.projectId': { names: 'project', request: () => ({ body: { name: 'new', text: 'Text', audience: 'project' } }) },
};
const assistantReferences: Sample['ids'] = {
  'body.modelId': { names: 'model' },
  'body.mcpServerIds.*': { names: 'mcpServer' },
};
const newName = () => `new-${randomUUIDv7()}`;

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
  postPromptUsed: {
    request: ({ records }) => ({ body: { id: records.prompt } }),
    own: 200,
    ids: { 'body.id': { names: 'prompt' } },
  },
} satisfies Partial<Record<EndpointName, Sample>>;
