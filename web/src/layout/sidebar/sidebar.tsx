import { ActionIcon, Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { Archive, ArrowLeft, Bot, Monitor, PanelLeftClose, Search, SquarePen, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { useBranding } from '../branding.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { keyText, shortcutKeys } from '../palette/shortcuts.ts';
import { useHasWorkspace } from '../records/use-has-workspace.ts';
import { AccountMenu } from './account-menu.tsx';
import { ConversationList } from './conversation-list.tsx';
import classes from './sidebar.module.css';

const ProjectsSection = lazyComponent(async () => (await import('./projects-section.tsx')).ProjectsSection);

/** Product, new conversation, search, list, account. `onClose` is set if it is in a drawer. */
export function Sidebar({ onClose }: { onClose?: () => void }) {
  const t = useText();
  const { productName, logoDataUrl } = useBranding();
  const { hasWorkspace } = useHasWorkspace();
  const [text, setText] = useState('');
  const [isArchived, setArchived] = useState(false);
  const side = useRef<HTMLElement>(null);
  const [search] = useDebouncedValue(text.trim(), 200);
  return (
    <aside className={classes.sidebar} aria-label={t('nav.side')} ref={side}>
      <div className={classes.head}>
        <Link to="/" className={classes.brand}>
          <img src={logoDataUrl ?? '/favicon.svg'} alt="" width={24} height={24} className={classes.logo} />
          <span className={classes.name}>{productName}</span>
        </Link>
        {onClose ? (
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('nav.close')} onClick={onClose}>
            <PanelLeftClose size={19} />
          </ActionIcon>
        ) : null}
      </div>
      <nav aria-label={t('nav.label')} className={classes.nav}>
        <div className={classes.tools}>
          <Link to="/" className={classes.new}>
            <SquarePen size={17} aria-hidden />
            {t('nav.newConversation')}
          </Link>
          <Link to="/assistants" className={classes.new}>
            <Bot size={17} aria-hidden />
            {t('nav.assistants')}
          </Link>
          <div className={classes.search}>
            <Search size={16} aria-hidden className={classes.searchIcon} />
            <input
              type="search"
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.nativeEvent.isComposing) return;
                if (event.key === 'ArrowDown') {
                  event.preventDefault();
                  side.current?.querySelector<HTMLElement>('[data-row]')?.focus();
                }
                if (event.key === 'Escape' && text !== '') {
                  event.preventDefault();
                  event.stopPropagation();
                  setText('');
                }
              }}
              placeholder={t('nav.searchPlaceholder')}
              aria-label={t('nav.searchLabel')}
              maxLength={200}
              className={classes.searchInput}
            />
            {text === '' ? (
              <span className={classes.keys} aria-hidden>
                {shortcutKeys.palette.map((key) => (
                  <kbd key={key}>{keyText(key, t)}</kbd>
                ))}
              </span>
            ) : (
              <button
                type="button"
                aria-label={t('nav.clearSearch')}
                onClick={() => setText('')}
                className={classes.clear}
              >
                <X size={14} aria-hidden />
              </button>
            )}
          </div>
        </div>
        {isArchived ? <h2 className={classes.section}>{t('nav.archived')}</h2> : null}
        <ProjectsSection q={search} isArchived={isArchived} />
        <ConversationList q={search} isArchived={isArchived} />
      </nav>
      <div className={classes.foot}>
        {hasWorkspace ? (
          <Button
            component={Link}
            to="/workspace"
            variant="subtle"
            color="gray"
            size="xs"
            justify="flex-start"
            className={classes.archive}
            leftSection={<Monitor size={15} aria-hidden />}
          >
            {t('nav.workspace')}
          </Button>
        ) : null}
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          justify="flex-start"
          className={classes.archive}
          leftSection={isArchived ? <ArrowLeft size={15} aria-hidden /> : <Archive size={15} aria-hidden />}
          onClick={() => setArchived(!isArchived)}
        >
          {t(isArchived ? 'nav.showActive' : 'nav.showArchived')}
        </Button>
        <AccountMenu />
      </div>
    </aside>
  );
}
