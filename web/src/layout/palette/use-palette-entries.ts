import type { ListedChat } from '@homeport/contracts/chat/conversations';
import { hasAllWords, searchWords } from '@homeport/contracts/text/search-words';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import {
  Bot,
  CircleHelp,
  Copy,
  Languages,
  LogOut,
  type LucideIcon,
  MessageSquare,
  MessageSquareDashed,
  Monitor,
  Palette,
  PanelLeft,
  PenLine,
  Sparkles,
  SquarePen,
  SquareTerminal,
} from 'lucide-react';
import { call } from '../../api/api.ts';
import { catalogueQuery, chatsQuery } from '../../api/queries.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { useLocale } from '../../i18n/locale.ts';
import { titleText } from '../../i18n/title-text.ts';
import { useHasWorkspace } from '../records/use-has-workspace.ts';
import { useSignOut } from '../sign-out.ts';
import { showFailure, showToast } from '../toasts.tsx';
import { useAccess } from '../use-access.ts';
import { settingsGroups } from './settings-sections.ts';
import { settingsTopics } from './settings-topics.ts';
import { shortcutKeys } from './shortcuts.ts';
import { type Commands, useSchemes } from './use-commands.ts';

export type Entry = {
  id: string;
  label: string;
  Icon: LucideIcon;
  keys?: readonly string[];
  /** A conversation that a search has found. */
  found?: ListedChat;
  run: () => void;
};
export type EntryGroup = { title: string; entries: Entry[] };

const shownConversations = 12;
const recentConversations = 5;

/** Palette entries for `text`; conversations come from the server for the debounced `search`. */
export function usePaletteEntries(
  text: string,
  search: string,
  commands: Commands,
): { groups: EntryGroup[]; isSearching: boolean } {
  const t = useText();
  const navigate = useNavigate();
  const query = useInfiniteQuery({ ...chatsQuery({ q: search, isArchived: false }), refetchInterval: false });
  const words = searchWords(text);
  const matches = (entry: Entry) => text === '' || hasAllWords(entry.label, words);
  const isSearching = query.isFetching || text !== search;
  // Until the search has answered, those already here that have the words in their title.
  const chats = (query.data?.pages[0]?.chats ?? []).filter(
    ({ title }) => text === '' || !isSearching || hasAllWords(title, words),
  );
  const conversations = chats.slice(0, text === '' ? recentConversations : shownConversations).map(
    (chat): Entry => ({
      id: chat.id,
      label: titleText(chat.title, t),
      Icon: MessageSquare,
      ...(search === '' ? {} : { found: chat }),
      run: () =>
        void navigate({ to: '/c/$chatId', params: { chatId: chat.id }, search: search === '' ? {} : { find: search } }),
    }),
  );
  const actions = useActions(commands).filter(matches);
  const settings = useSettings(words);
  const models = useModels().filter((entry) => text !== '' && matches(entry));
  const known: EntryGroup[] = [
    { title: t('palette.actions'), entries: actions },
    { title: t('palette.settings'), entries: settings },
    { title: t('palette.models'), entries: models },
  ];
  // Late results come below the immediate ones, so that nothing moves under the pointer.
  const groups: EntryGroup[] =
    text === ''
      ? [{ title: t('palette.recent'), entries: conversations }, ...known]
      : [...known, { title: t('palette.conversations'), entries: conversations }];
  return {
    groups: groups.filter(({ entries }) => entries.length > 0),
    isSearching,
  };
}

function useActions(commands: Commands): Entry[] {
  const t = useText();
  const { schemes, setColorScheme } = useSchemes();
  const { others, setLocale } = useLocale();
  const signOut = useSignOut();
  const navigate = useNavigate();
  const { hasWorkspace } = useHasWorkspace();
  const workspace: Entry[] = [
    { id: 'workspace', label: t('nav.openWorkspace'), Icon: Monitor, run: () => void navigate({ to: '/workspace' }) },
    {
      id: 'terminal',
      label: t('nav.openTerminal'),
      Icon: SquareTerminal,
      run: () => void navigate({ to: '/workspace', search: { tab: 'terminal' } }),
    },
  ];
  return [
    {
      id: 'new',
      label: t('nav.newConversation'),
      Icon: SquarePen,
      keys: shortcutKeys.newConversation,
      run: commands.newConversation,
    },
    { id: 'assistants', label: t('nav.assistants'), Icon: Bot, run: () => void navigate({ to: '/assistants' }) },
    {
      id: 'temporary',
      label: t('nav.newTemporary'),
      Icon: MessageSquareDashed,
      run: () => void navigate({ to: '/', search: { temporary: true } }).then(commands.focusComposer),
    },
    {
      id: 'write',
      label: t('shortcuts.focusComposer'),
      Icon: PenLine,
      keys: shortcutKeys.focusComposer,
      run: commands.focusComposer,
    },
    { id: 'copy', label: t('shortcuts.copyLast'), Icon: Copy, keys: shortcutKeys.copyLast, run: commands.copyLast },
    { id: 'side', label: t('shortcuts.sidebar'), Icon: PanelLeft, keys: shortcutKeys.sidebar, run: commands.sidebar },
    { id: 'help', label: t('shortcuts.title'), Icon: CircleHelp, keys: shortcutKeys.help, run: commands.help },
    ...(hasWorkspace ? workspace : []),
    ...schemes.map(
      (scheme): Entry => ({
        id: `scheme-${scheme}`,
        label: t('palette.scheme', { scheme: t(`theme.${scheme}`) }),
        Icon: Palette,
        run: () => setColorScheme(scheme),
      }),
    ),
    ...others.map(
      ({ locale, name }): Entry => ({
        id: `language-${locale}`,
        label: t('palette.language', { name }),
        Icon: Languages,
        run: () => void setLocale(locale),
      }),
    ),
    { id: 'sign-out', label: t('nav.signOut'), Icon: LogOut, run: () => void signOut() },
  ];
}

/** The pages of the settings with these words in their names, then the tasks that people may mean, each page once. */
function useSettings(words: readonly string[]): Entry[] {
  const t = useText();
  const navigate = useNavigate();
  const groups = settingsGroups(useAccess());
  const pages = groups
    .flatMap((group) => group.pages)
    .filter(({ text }) => words.length === 0 || hasAllWords(t('palette.setting', { name: t(text) }), words));
  const named = new Set(pages.map(({ to }) => to));
  const topics = settingsTopics(groups).filter(
    ({ page, text, words: searched }) => !named.has(page.to) && hasAllWords(`${t(text)} ${t(searched)}`, words),
  );
  return [
    ...pages.map(({ to, text, Icon }) => ({
      id: to,
      label: t('palette.setting', { name: t(text) }),
      Icon,
      run: () => void navigate({ to }),
    })),
    ...topics.map(({ text, page: { to, text: page, Icon } }) => ({
      id: text,
      label: t('palette.topic', { topic: t(text), page: t(page) }),
      Icon,
      run: () => void navigate({ to }),
    })),
  ];
}

/** Models that can be pinned to the open conversation. */
function useModels(): Entry[] {
  const t = useText();
  const queries = useQueryClient();
  const { chatId } = useParams({ strict: false });
  const { conversation } = useClientSession();
  const { data } = useQuery(catalogueQuery);
  if (chatId === undefined || !data) return [];
  const pin = async (modelId: string, name: string) => {
    try {
      await call('PATCH /api/chats', { body: { id: chatId, modelPinned: true, modelId } });
      conversation(chatId).restart();
      void queries.invalidateQueries({ queryKey: ['chats'] });
      showToast(t('palette.modelDone', { name }));
    } catch (error) {
      showFailure(t('nav.changeFailed'), failureText(error, t));
    }
  };
  return data.providers.flatMap((provider) =>
    provider.models
      .filter((model) => model.enabled && provider.enabled)
      .map((model) => ({
        id: model.id,
        label: t('palette.model', { name: model.displayName }),
        Icon: Sparkles,
        run: () => void pin(model.id, model.displayName),
      })),
  );
}
