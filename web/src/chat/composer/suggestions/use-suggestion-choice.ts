import type { McpPrompt } from '@homeport/contracts/mcp/content';
import type { Prompt } from '@homeport/contracts/prompts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { placeholderNames } from '../../../conversation/draft/placeholders.ts';
import { useText } from '../../../i18n/i18n.ts';
import { showToast } from '../../../layout/toasts.tsx';
import type { Suggestion } from './suggestion-menu.tsx';
import type { useSuggestions } from './use-suggestions.ts';

type Actions = {
  suggestions: ReturnType<typeof useSuggestions>;
  /** The text of the field. */
  draftText: string;
  chooseAssistant: (assistantId: string) => void;
  summarize: (focus: string) => Promise<void>;
};

/**
 * Applies a chosen suggestion. `prompt` is an MCP server's prompt whose arguments have to be asked for, `filling` a saved
 * one with placeholders.
 */
export function useSuggestionChoice({ suggestions, draftText, chooseAssistant, summarize }: Actions) {
  const t = useText();
  const navigate = useNavigate();
  const [prompt, setPrompt] = useState<McpPrompt>();
  const [filling, setFilling] = useState<Prompt>();
  const choose = (suggestion: Suggestion) => {
    if (suggestion.kind === 'compact') {
      suggestions.insert('/compact ');
      // If the whole command was typed, run it; otherwise the person can add a focus.
      if (draftText.trim() === '/compact') void summarize('');
      return;
    }
    if (suggestion.kind === 'assistant') {
      suggestions.insert('');
      return chooseAssistant(suggestion.assistant.id);
    }
    if (suggestion.kind === 'skill') {
      if (suggestion.skill.isReady) return suggestions.insert(`/${suggestion.skill.name} `);
      suggestions.insert('');
      return void navigate({ to: '/settings/skills' });
    }
    if (suggestion.kind === 'server-prompt') {
      suggestions.insert('');
      return setPrompt(suggestion.prompt);
    }
    if (placeholderNames(suggestion.prompt.text).length === 0) return suggestions.insert(suggestion.prompt.text);
    suggestions.insert('');
    setFilling(suggestion.prompt);
  };
  const closePrompt = () => setPrompt(undefined);
  const insertPrompt = (text: string, leftOut: number) => {
    closePrompt();
    if (leftOut > 0) showToast(t('composer.promptLeftOut', { count: leftOut }));
    // The dialog gives the focus back first.
    requestAnimationFrame(() => suggestions.put(text));
  };
  const closeFilling = () => setFilling(undefined);
  const insertFilled = (text: string) => {
    closeFilling();
    requestAnimationFrame(() => suggestions.put(text));
  };
  return { choose, prompt, closePrompt, insertPrompt, filling, closeFilling, insertFilled };
}
