import 'virtual:texts/context';
import type { Assistant } from '@homeport/contracts/assistants';
import type { McpPrompt } from '@homeport/contracts/mcp/content';
import type { Prompt } from '@homeport/contracts/prompts';
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { Archive, GraduationCap, Server, SquareSlash } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useImperativeHandle,
  useState,
} from 'react';
import { call } from '../../../api/api.ts';
import { matchesQuery, type Trigger } from '../../../conversation/draft/suggestions.ts';
import { useText } from '../../../i18n/i18n.ts';
import { AssistantPicture } from '../../../layout/records/assistant-picture.tsx';
import {
  assistantListQuery,
  promptListQuery,
  type Search,
  type SkillChoice,
  skillChoiceQuery,
} from '../../../layout/records/assistant-queries.ts';
import { hasSearchService, ownWebSearchQuery } from '../../../web-search/web-search-api.ts';
import classes from './suggestion-menu.module.css';
import type { ActiveOption, SuggestionList } from './use-suggestions.ts';

export type Suggestion =
  | { kind: 'prompt'; prompt: Prompt }
  | { kind: 'server-prompt'; prompt: McpPrompt }
  | { kind: 'skill'; skill: SkillChoice }
  | { kind: 'assistant'; assistant: Assistant }
  | { kind: 'compact' };

type Props = {
  trigger: Trigger;
  list: RefObject<SuggestionList | null>;
  /** There is a conversation whose earlier messages can be summarized. */
  canCompact: boolean;
  /** The conversation's project, whose skills it has. */
  projectId: string | null;
  /** Models may use the web in this conversation. */
  isWebOn: boolean;
  onActive: (active: ActiveOption | undefined) => void;
  onChoose: (suggestion: Suggestion) => void;
  onDismiss: () => void;
};

/** Suggestions for the trigger character in the message field. The field keeps the focus and forwards the keys. */
export function SuggestionMenu({
  trigger,
  list,
  canCompact,
  projectId,
  isWebOn,
  onActive,
  onChoose,
  onDismiss,
}: Props) {
  const t = useText();
  const queries = useQueryClient();
  const { suggestions, isLoaded } = useMatches(trigger, { canCompact, projectId, isWebOn });
  const [at, setAt] = useState(0);
  const { sign, query } = trigger;
  useEffect(() => setAt(0), [sign, query]);
  const active = suggestions[Math.min(at, suggestions.length - 1)];
  const listId = useId();
  const optionId = (suggestion: Suggestion) => `${listId}-${keyOf(suggestion)}`;
  const activeId = active && optionId(active);
  useEffect(() => {
    onActive(activeId === undefined ? undefined : { listId, optionId: activeId });
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' });
  }, [onActive, listId, activeId]);
  useImperativeHandle(list, () => ({ onKey }));

  const choose = (suggestion: Suggestion) => {
    onChoose(suggestion);
    if (suggestion.kind !== 'prompt') return;
    // Only the order of the list depends on this request, so its failure is ignored.
    call('POST /api/prompts/used', { body: { id: suggestion.prompt.id } }).then(
      () => queries.invalidateQueries({ queryKey: ['prompts'] }),
      () => {},
    );
  };

  function onKey(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false;
    if (event.key === 'Escape') {
      event.preventDefault();
      onDismiss();
      return true;
    }
    if (!active) return false;
    const last = suggestions.length - 1;
    const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[event.key];
    if (next === undefined && event.key !== 'Enter' && event.key !== 'Tab') return false;
    event.preventDefault();
    if (next === undefined) choose(active);
    else setAt(next);
    return true;
  }

  const label = t(sign === '/' ? 'suggest.prompts' : 'suggest.assistants');
  if (suggestions.length === 0 && (query !== '' || !isLoaded)) return null;
  return (
    <div className={classes.menu}>
      <div id={listId} role="listbox" aria-label={label} className={classes.list}>
        {suggestions.map((suggestion) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the message field handles the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
          <div
            key={keyOf(suggestion)}
            id={optionId(suggestion)}
            role="option"
            aria-selected={suggestion === active}
            className={classes.option}
            onMouseMove={() => setAt(suggestions.indexOf(suggestion))}
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(suggestion)}
          >
            <Row suggestion={suggestion} />
          </div>
        ))}
      </div>
      {suggestions.length === 0 ? (
        <p className={classes.none}>{t(sign === '/' ? 'suggest.noPrompts' : 'suggest.noAssistants')}</p>
      ) : null}
      <span role="status" className="visually-hidden">
        {t('suggest.count', { count: suggestions.length })}
      </span>
    </div>
  );
}

function Row({ suggestion }: { suggestion: Suggestion }) {
  const t = useText();
  if (suggestion.kind === 'assistant') {
    const { icon, name, description } = suggestion.assistant;
    return <Words picture={<AssistantPicture icon={icon} name={name} />} name={name} detail={description} />;
  }
  if (suggestion.kind === 'compact')
    return <Words picture={<Archive size={16} aria-hidden />} name="/compact" detail={t('suggest.compact')} />;
  if (suggestion.kind === 'server-prompt') {
    const { name, title, serverName } = suggestion.prompt;
    const detail = title === null ? serverName : `${serverName} · ${title}`;
    return <Words picture={<Server size={16} aria-hidden />} name={`/${name}`} detail={detail} />;
  }
  if (suggestion.kind === 'skill') {
    const { name, description, isReady } = suggestion.skill;
    const detail = `${t(isReady ? 'suggest.skill' : 'suggest.skillNew')} · ${description}`;
    return <Words picture={<GraduationCap size={16} aria-hidden />} name={`/${name}`} detail={detail} />;
  }
  const { name, title, text } = suggestion.prompt;
  const detail = title === '' || title === name ? text : title;
  return <Words picture={<SquareSlash size={16} aria-hidden />} name={`/${name}`} detail={detail} />;
}

function Words({ picture, name, detail }: { picture: ReactNode; name: string; detail: string }) {
  return (
    <>
      <span className={classes.picture}>{picture}</span>
      <span className={classes.words}>
        <bdi className={classes.name}>{name}</bdi>
        {detail === '' ? null : <span className={classes.detail}>{detail.slice(0, 200)}</span>}
      </span>
    </>
  );
}

const shownMax = 50;

/** Queries MCP servers, so it doesn't run on each key. */
const serverPromptsQuery = queryOptions({
  queryKey: ['mcp', 'prompts'],
  queryFn: ({ signal }) => call('GET /api/mcp/prompts', { signal }),
  staleTime: 60_000,
  retry: false,
});

function useMatches(
  { sign, query, start }: Trigger,
  { canCompact, projectId, isWebOn }: Pick<Props, 'canCompact' | 'projectId' | 'isWebOn'>,
): { suggestions: Suggestion[]; isLoaded: boolean } {
  const isPrompts = sign === '/';
  // A skill is named at the beginning of a message.
  const skillList = useQuery({ ...skillChoiceQuery(projectId), enabled: isPrompts && start === 0 });
  const { data: web } = useQuery({ ...ownWebSearchQuery, enabled: isPrompts && start === 0 && isWebOn });
  const canSearch = isWebOn && web !== undefined && hasSearchService(web.webSearch);
  const promptSearch = useSearched(query, promptListQuery, isPrompts);
  const servers = useQuery({ ...serverPromptsQuery, enabled: isPrompts });
  const assistantSearch = useSearched(query, assistantListQuery, !isPrompts);
  if (!isPrompts) {
    const found = assistantSearch.items.filter(({ name }) => matchesQuery(query, name));
    return {
      suggestions: found.slice(0, shownMax).map((assistant) => ({ kind: 'assistant', assistant })),
      isLoaded: assistantSearch.isLoaded,
    };
  }
  const found = promptSearch.items.filter(({ name, title }) => matchesQuery(query, name, title));
  const prompts = found.slice(0, shownMax).map((prompt): Suggestion => ({ kind: 'prompt', prompt }));
  const skills = (start === 0 ? (skillList.data ?? []) : [])
    .filter(({ name, needsWeb }) => matchesQuery(query, name) && (needsWeb !== true || canSearch))
    .slice(0, shownMax)
    .map((skill): Suggestion => ({ kind: 'skill', skill }));
  const ofServers = (servers.data?.prompts ?? [])
    .filter(({ name, title }) => matchesQuery(query, name, title ?? ''))
    .slice(0, shownMax)
    .map((prompt): Suggestion => ({ kind: 'server-prompt', prompt }));
  const commands: Suggestion[] = canCompact && 'compact'.startsWith(query.toLowerCase()) ? [{ kind: 'compact' }] : [];
  return { suggestions: [...prompts, ...skills, ...ofServers, ...commands], isLoaded: promptSearch.isLoaded };
}

/** The first page and, if there are more, the server's search results. */
function useSearched<T>(query: string, options: (q: string) => Search<T>, isOn: boolean) {
  const first = useQuery({ ...options(''), enabled: isOn });
  const isSearch = isOn && query !== '' && first.data?.isAll === false;
  const found = useQuery({ ...options(query), enabled: isSearch, placeholderData: keepPreviousData });
  return { items: (isSearch ? found.data : first.data)?.items ?? [], isLoaded: first.data !== undefined };
}

function keyOf(suggestion: Suggestion): string {
  if (suggestion.kind === 'prompt') return suggestion.prompt.id;
  if (suggestion.kind === 'skill') return `skill-${suggestion.skill.name}`;
  if (suggestion.kind === 'server-prompt') return `${suggestion.prompt.serverId}-${suggestion.prompt.name}`;
  return suggestion.kind === 'assistant' ? suggestion.assistant.id : 'compact';
}
