import 'virtual:texts/projects';
import type { Project } from '@homeport/contracts/projects';
import { hasAllWords, searchWords } from '@homeport/contracts/text/search-words';
import { ActionIcon, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { ArchiveRestore, ChevronRight, Folder, Plus } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { canManage, projectsQuery } from '../records/projects-api.ts';
import { useProjectChanges } from '../records/use-project-changes.ts';
import classes from './projects-section.module.css';

// The section is on every page; the dialog with its form is not.
const NameDialog = lazyComponent(async () => (await import('../dialogs/project-name-dialog.tsx')).NameDialog);

/** How many projects the sidebar shows at first. */
const shownAtFirst = 6;
const foldedKey = 'projects-folded';

/** The projects in the sidebar; with `isArchived`, the archived ones. */
export function ProjectsSection({ q, isArchived }: { q: string; isArchived: boolean }) {
  const t = useText();
  const navigate = useNavigate();
  const { projectId } = useParams({ strict: false });
  const { data } = useQuery(projectsQuery(isArchived));
  const [isFolded, setFolded] = useState(() => localStorage.getItem(foldedKey) !== null);
  const [showsAll, setShowsAll] = useState(false);
  const [isNaming, setNaming] = useState(false);
  const words = searchWords(q);
  const found = (data ?? []).filter((project) => q === '' || hasAllWords(project.name, words));
  const shown = showsAll || q !== '' ? found : found.slice(0, shownAtFirst);
  if (!data || (found.length === 0 && (q !== '' || isArchived))) return null;
  const fold = () => {
    setFolded(!isFolded);
    try {
      if (isFolded) localStorage.removeItem(foldedKey);
      else localStorage.setItem(foldedKey, '1');
    } catch {
      // Not stored: it lasts as long as the page.
    }
  };
  const isOpen = !isFolded || q !== '' || isArchived;
  return (
    <section className={classes.section} aria-label={t('projects.title')}>
      <div className={classes.sectionHead}>
        <h3 className={classes.sectionTitle}>
          <button type="button" onClick={fold} aria-expanded={isOpen} className={classes.fold}>
            {t('projects.title')}
            <ChevronRight size={13} aria-hidden data-open={isOpen || undefined} />
          </button>
        </h3>
        {isArchived || data.length === 0 ? null : (
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={t('projects.new')}
            title={t('projects.new')}
            onClick={() => setNaming(true)}
          >
            <Plus size={15} />
          </ActionIcon>
        )}
      </div>
      {isOpen ? (
        <>
          <ul className={classes.list}>
            {shown.map((project) => (
              <Row key={project.id} project={project} isCurrent={project.id === projectId} isArchived={isArchived} />
            ))}
          </ul>
          {shown.length < found.length ? (
            <button type="button" className={classes.all} onClick={() => setShowsAll(true)}>
              {t('projects.showAll', { count: found.length })}
            </button>
          ) : null}
          {data.length === 0 ? (
            <Button
              variant="subtle"
              color="gray"
              size="xs"
              justify="flex-start"
              leftSection={<Plus size={15} aria-hidden />}
              className={classes.first}
              onClick={() => setNaming(true)}
            >
              {t('projects.new')}
            </Button>
          ) : null}
        </>
      ) : null}
      {isNaming ? (
        <NameDialog
          project={undefined}
          onDone={({ id }) => {
            setNaming(false);
            void navigate({ to: '/p/$projectId', params: { projectId: id } });
          }}
          onClose={() => setNaming(false)}
        />
      ) : null}
    </section>
  );
}

function Row({ project, isCurrent, isArchived }: { project: Project; isCurrent: boolean; isArchived: boolean }) {
  const t = useText();
  const { setArchived } = useProjectChanges();
  return (
    <li className={classes.row} data-current={isCurrent || undefined}>
      <Link
        to="/p/$projectId"
        params={{ projectId: project.id }}
        className={classes.link}
        aria-current={isCurrent ? 'page' : undefined}
        title={project.name}
      >
        <Folder size={16} aria-hidden />
        <bdi>{project.name}</bdi>
      </Link>
      {isArchived && canManage(project) ? (
        <ActionIcon
          variant="subtle"
          color="gray"
          size={26}
          aria-label={t('projects.restoreNamed', { name: project.name })}
          title={t('nav.restore')}
          onClick={() => void setArchived(project, false)}
        >
          <ArchiveRestore size={15} />
        </ActionIcon>
      ) : null}
    </li>
  );
}
