import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { limits } from '../limits.ts';

/** Tool permissions (contract.md section 11), for a person and for one conversation. */

/**
 * `ask`: reading is free, anything else waits for the person. `auto`: everything runs that no rule stops. `read-only`:
 * nothing is written, and only commands that read run.
 */
const toolPreset = z.enum(['ask', 'auto', 'read-only']);
export type ToolPreset = z.infer<typeof toolPreset>;

const toolRule = z.object({
  tool: z.string().min(1).max(limits.mcpToolNameMax),
  /** Pattern for commands of `bash`; `*` matches any text, `\*` a star. Without it: every call. */
  pattern: z.string().trim().min(1).max(limits.toolPatternMax).optional(),
  policy: z.enum(['allow', 'ask', 'deny']),
});
export type ToolRule = z.infer<typeof toolRule>;

export const toolRules = z.object({ preset: toolPreset, rules: z.array(toolRule).max(limits.toolRulesMax) });
export type ToolRules = z.infer<typeof toolRules>;

/** Whether programs in the workspace can call the person's models. */
const programModels = z.boolean();
const ownToolRules = toolRules.extend({ programModels });
export type OwnToolRules = z.infer<typeof ownToolRules>;

const hasPatternsForCommands = ({ rules }: ToolRules): boolean =>
  rules.every(({ tool, pattern }) => pattern === undefined || tool === 'bash');
const isBounded = ({ rules }: ToolRules): boolean =>
  rules.reduce((sum, { tool, pattern = '' }) => sum + tool.length + pattern.length, 0) <= limits.toolRulesTextMax;
/** Rules in a request. */
export const givenToolRules = bounded(toolRules);
/** Rules in a request; an omitted `programModels` is unchanged. */
const givenOwnRules = bounded(toolRules.extend({ programModels: programModels.optional() }));

function bounded<Shape extends z.ZodType<ToolRules>>(shape: Shape): Shape {
  return shape
    .refine(hasPatternsForCommands, { message: 'Only rules for bash can have a pattern', path: ['rules'] })
    .refine(isBounded, { message: 'The rules are too long together', path: ['rules'] });
}

export const toolRuleEndpoints = {
  getWorkspaceRules: endpoint({
    method: 'GET',
    path: '/api/workspace/rules',
    access: 'session',
    summary: 'The tool permissions in all own conversations',
    response: ownToolRules,
  }),
  putWorkspaceRules: endpoint({
    method: 'PUT',
    path: '/api/workspace/rules',
    access: 'session',
    summary: 'Replaces the own rules for tools; a conversation can have its own (`toolRules`)',
    body: givenOwnRules,
    response: ownToolRules,
  }),
} as const;
