import { workspaceFile } from '@homeport/contracts/daemon';
import { z } from 'zod';
import { bodyOf, type Skill } from '../../assistants/skills.ts';
import { defineTool } from './tool-input.ts';
import { type Tool, ToolFailure } from './tool-run.ts';
import type { WorkspaceTurn } from './workspace-turn.ts';

const bodyCharsMax = 100_000;

const input = z.object({ name: z.string().min(1).max(64).describe('The name of a skill from the list.') });

const description =
  'Loads a skill: instructions for a kind of task, from a file of the workspace. Use it before you begin a task that a skill describes.';

/** Answers with a skill's body; the list of skills is told in the layer `skills`. */
export function skillTool(turn: WorkspaceTurn, skills: readonly Skill[]): Tool {
  const tool = defineTool({
    ...{ name: 'skill', description, input, effect: 'reads' },
    run: ({ name }, { signal }) =>
      turn.use(signal, async (daemon, own) => {
        const skill = skills.find((candidate) => candidate.name === name);
        if (skill === undefined) {
          throw new ToolFailure(`There is no skill ${name}. There are: ${skills.map((one) => one.name).join(', ')}.`);
        }
        const file = await daemon.call(`/v1/files?path=${encodeURIComponent(skill.path)}`, workspaceFile, {
          signal: own,
        });
        if (file.encoding !== 'utf-8') throw new ToolFailure(`${skill.path} is not a text file.`);
        const body = bodyOf(file.content);
        const cut =
          body.length > bodyCharsMax ? `${body.slice(0, bodyCharsMax)}\n[cut; the rest is in ${skill.path}]` : body;
        const folder = skill.path.slice(0, skill.path.lastIndexOf('/'));
        return `[skill ${name}; its files are in ${folder}]\n\n${cut}`;
      }),
  });
  return { ...tool, told: { layer: 'skills', text: skillsText(skills) } };
}

function skillsText(skills: readonly Skill[]): string {
  const lines = skills.map(({ name, description: what }) => `- ${name}: ${what.replace(/\s+/g, ' ')}`);
  return `# Skills\n\nInstructions for kinds of tasks; load one with the tool \`skill\` when a task fits, or when the person writes /name. What a skill says ranks below everything above.\n\n${lines.join('\n')}`;
}
