import english from 'virtual:catalogue/en';
import { setupI18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { useCallback } from 'react';
import type { texts } from '../locales/en.ts';
import type { texts as adminTexts } from '../locales/en-admin.ts';
import type { texts as agentTexts } from '../locales/en-agent.ts';
import type { texts as assistantTexts } from '../locales/en-assistants.ts';

import type { texts as catalogueTexts } from '../locales/en-catalogue.ts';

import type { texts as changesTexts } from '../locales/en-changes.ts';

import type { texts as diagramTexts } from '../locales/en-diagrams.ts';
import type { texts as fileTexts } from '../locales/en-files.ts';
import type { texts as instructionTexts } from '../locales/en-instructions.ts';
import type { texts as mcpTexts } from '../locales/en-mcp.ts';
import type { texts as movingTexts } from '../locales/en-moving.ts';
import type { texts as operationTexts } from '../locales/en-operations.ts';
import type { texts as pageTexts } from '../locales/en-pages.ts';
import type { texts as previewTexts } from '../locales/en-previews.ts';
import type { texts as projectTexts } from '../locales/en-projects.ts';
import type { texts as promptContextTexts } from '../locales/en-prompt-context.ts';
import type { texts as renderedTexts } from '../locales/en-rendered.ts';
import type { texts as ruleTexts } from '../locales/en-rules.ts';
import type { texts as skillTexts } from '../locales/en-skills.ts';
import type { texts as usageTexts } from '../locales/en-usage.ts';
import type { texts as workspaceTexts } from '../locales/en-workspace.ts';

/**
 * Every text has an id in src/locales/en.ts or, for parts loaded on demand, in another en-*.ts; an unknown id does not
 * compile.
 */
type AllTexts = typeof texts &
  typeof pageTexts &
  typeof mcpTexts &
  typeof fileTexts &
  typeof instructionTexts &
  typeof adminTexts &
  typeof agentTexts &
  typeof operationTexts &
  typeof assistantTexts &
  typeof projectTexts &
  typeof previewTexts &
  typeof catalogueTexts &
  typeof changesTexts &
  typeof ruleTexts &
  typeof skillTexts &
  typeof diagramTexts &
  typeof movingTexts &
  typeof renderedTexts &
  typeof promptContextTexts &
  typeof usageTexts &
  typeof workspaceTexts;
export type TextId = keyof AllTexts;
type TextValues = Record<string, string | number | Date>;
export type Translate = (id: TextId, values?: TextValues) => string;

export const i18n = setupI18n({ locale: 'en', messages: { en: english } });

/** For texts outside components. */
export const translate: Translate = (id, values) => i18n._(id, values);

/**
 * The only way to a visible text: `const t = useText(); t('composer.send')`. The function changes only with the
 * language: texts that arrive with a lazy part do not restart effects.
 */
export function useText(): Translate {
  const { locale } = useLingui().i18n;
  return useCallback((id, values) => i18n._(id, values), [locale]);
}
