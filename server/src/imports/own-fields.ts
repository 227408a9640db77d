import { assistantContent } from '@homeport/contracts/assistants';
import { promptFields } from '@homeport/contracts/prompts';
import { z } from 'zod';
import { isPicture } from '../assistants/versions.ts';

/** Prompts and assistants as export-account.ts writes them, and as an import takes them. */

export const exportedPrompt = z.object(promptFields);

export const exportedAssistant = z
  .object({
    ...assistantContent,
    icon: assistantContent.icon.refine((icon) => icon === null || isPicture(icon)),
    providerModelId: z.string().max(200).nullable(),
    tier: assistantContent.tier.default(null),
    // Earlier exports do not say which: then none.
    mcpServers: z.array(z.string()).max(200).nullable().default([]),
  })
  .omit({ modelId: true, mcpServerIds: true });
export type ExportedAssistant = z.output<typeof exportedAssistant>;
