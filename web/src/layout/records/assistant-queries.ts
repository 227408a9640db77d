import type { Assistant } from '@homeport/contracts/assistants';
import type { Prompt } from '@homeport/contracts/prompts';
import type { Skill } from '@homeport/contracts/skills';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';

/** One assistant; null when there is none of this id that the reader may use. */
export function assistantQuery(id: string) {
  return queryOptions({
    queryKey: ['assistants', 'one', id],
    queryFn: async ({ signal }): Promise<Assistant | null> => {
      try {
        const answer = await call('GET /api/assistants', { query: { id }, signal });
        if ('assistant' in answer) return answer.assistant;
      } catch (error) {
        if (error instanceof ApiFailure && error.code === 'not_found') return null;
        throw error;
      }
      throw new ApiFailure('unreadable', '');
    },
  });
}

/** One page of a list to choose from. */
type Listed<Item> = { items: readonly Item[]; isAll: boolean };
export type Search<Item> = {
  queryKey: readonly string[];
  queryFn: (context: { signal: AbortSignal }) => Promise<Listed<Item>>;
};

const listedMax = '100';

/** The assistants that the reader may use, last changed first, that have the words `q`. */
export function assistantListQuery(q: string): Search<Assistant> {
  return {
    queryKey: ['assistants', 'choice', q],
    queryFn: async ({ signal }) => {
      const answer = await call('GET /api/assistants', { query: { q, limit: listedMax }, signal });
      if ('assistants' in answer) return { items: answer.assistants, isAll: answer.nextCursor === null };
      throw new ApiFailure('unreadable', '');
    },
  };
}

/** The prompts that the reader may use, last used first, that have the words `q`. */
export function promptListQuery(q: string): Search<Prompt> {
  return {
    queryKey: ['prompts', 'choice', q],
    queryFn: async ({ signal }) => {
      const { prompts, nextCursor } = await call('GET /api/prompts', { query: { q, limit: listedMax }, signal });
      return { items: prompts, isAll: nextCursor === null };
    },
  };
}

/** A skill to mention in a message; `isReady`: it is part of the prompt context. */
export type SkillChoice = { name: string; description: string; isReady: boolean; needsWeb?: boolean };

const nearness = { me: 1, project: 2, everyone: 3 } as const;

/** The skills of a conversation in this project: each name once, the nearest, and those that are used first. */
export function skillChoiceQuery(projectId: string | null) {
  return queryOptions({
    queryKey: ['skills', 'choice', projectId],
    queryFn: async ({ signal }): Promise<SkillChoice[]> => {
      const { skills, workspace, shipped } = await call('GET /api/skills', { query: { limit: listedMax }, signal });
      const near = workspace.map(({ name, description }) => ({ name, description, isReady: true }));
      const added = skills
        .filter((skill) => skill.enabled && (skill.projectId === null || skill.projectId === projectId))
        .sort((a, b) => Number(isReady(b)) - Number(isReady(a)) || nearness[a.audience] - nearness[b.audience])
        .map((skill) => ({ name: skill.name, description: skill.description, isReady: isReady(skill) }));
      const ofRelease = shipped
        .filter(({ enabled, enabledForEveryone }) => enabled && enabledForEveryone)
        .map(({ name, description, needsWeb }) => ({ name, description, isReady: true, needsWeb }));
      return [
        ...new Map([...near, ...added, ...ofRelease].reverse().map((skill) => [skill.name, skill])).values(),
      ].reverse();
    },
    staleTime: 30_000,
  });
}

function isReady({ trust }: Skill): boolean {
  return trust === 'trusted';
}
