import 'virtual:texts/projects';
import 'virtual:texts/files';
import 'virtual:texts/pages';
import type { Project } from '@homeport/contracts/projects';
import { ActionIcon, Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Archive, ArchiveRestore, Ellipsis, LogOut, PencilLine, SquarePen } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useClientSession } from '../conversation/client-session.ts';
import { FilePanel } from '../files/file-panel.tsx';
import { FilesView } from '../files/files-view.tsx';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { useTitle } from '../layout/branding.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { NameDialog } from '../layout/dialogs/project-name-dialog.tsx';
import { HomeButton, MessagePage } from '../layout/message-page.tsx';
import { canManage, projectsQuery } from '../layout/records/projects-api.ts';
import { useProjectChanges } from '../layout/records/use-project-changes.ts';
import { InstructionsView } from './instructions-view.tsx';
import { MembersView } from './members-view.tsx';
import { ProjectChats } from './project-chats.tsx';
import classes from './projects.module.css';

/** `/p/<id>`: a project with its conversations, files and members. */
export function ProjectPage() {
  const t = useText();
  const { projectId } = useParams({ from: '/signed-in/p/$projectId' });
  const active = useQuery(projectsQuery(false));
  const archived = useQuery(projectsQuery(true));
  const project = [...(active.data ?? []), ...(archived.data ?? [])].find(({ id }) => id === projectId);
  if (project) return <Loaded key={project.id} project={project} />;
  const failure = active.error ?? archived.error;
  if (failure) {
    return (
      <main id="content" tabIndex={-1} className={classes.page}>
        <div className={classes.column}>
          <FormFailure failure={failure} />
        </div>
      </main>
    );
  }
  if (!active.data || !archived.data) return <main id="content" tabIndex={-1} aria-busy="true" />;
  return (
    <MessagePage title={t('projects.missingTitle')} action={<HomeButton />}>
      {t('projects.missingText')}
    </MessagePage>
  );
}

const tabs = ['chats', 'files', 'instructions', 'members'] as const;
type Tab = (typeof tabs)[number];

function Loaded({ project }: { project: Project }) {
  const t = useText();
  const navigate = useNavigate();
  const { tab = 'chats', file } = useSearch({ from: '/signed-in/p/$projectId' });
  const scope = useMemo(() => ({ projectId: project.id }), [project.id]);
  useTitle(project.name);
  const show = (search: { tab?: Tab; file?: string }) =>
    void navigate({ to: '/p/$projectId', params: { projectId: project.id }, search, resetScroll: false });
  return (
    <div className={classes.beside}>
      <main id="content" tabIndex={-1} className={classes.page}>
        <div className={classes.column}>
          <Head project={project} />
          {project.archived ? <Archived project={project} /> : null}
          <nav aria-label={t('projects.parts')} className={classes.tabs}>
            {tabs.map((each) => (
              <Link
                key={each}
                to="/p/$projectId"
                params={{ projectId: project.id }}
                search={each === 'chats' ? {} : { tab: each }}
                activeOptions={{ exact: true, includeSearch: true }}
                className={classes.tab}
                data-open={each === tab || undefined}
              >
                {t(`projects.tab.${each}`)}
                {each === 'members' ? <span className={classes.number}>{project.members.length}</span> : null}
              </Link>
            ))}
          </nav>
          {tab === 'chats' ? <ProjectChats project={project} /> : null}
          {tab === 'files' ? (
            <FilesView
              scope={scope}
              canUpload={!project.archived}
              onOpen={({ id }) => show({ tab: 'files', file: id })}
            />
          ) : null}
          {tab === 'instructions' ? <InstructionsView project={project} /> : null}
          {tab === 'members' ? <MembersView project={project} /> : null}
        </div>
      </main>
      {file === undefined ? null : (
        <FilePanel
          scope={scope}
          fileId={file}
          canUpload={!project.archived}
          onFile={(id) => show({ tab: 'files', ...(id === undefined ? {} : { file: id }) })}
          onClose={() => show({ tab: 'files' })}
        />
      )}
    </div>
  );
}

function Archived({ project }: { project: Project }) {
  const t = useText();
  const { setArchived } = useProjectChanges();
  const restore = (
    <Button size="compact-sm" variant="default" onClick={() => void setArchived(project, false)}>
      {t('nav.restore')}
    </Button>
  );
  return (
    <Notice kind="info" action={canManage(project) ? restore : undefined}>
      {t('projects.archivedNotice')}
    </Notice>
  );
}

function Head({ project }: { project: Project }) {
  const t = useText();
  const navigate = useNavigate();
  const { user } = useClientSession();
  const changes = useProjectChanges();
  const [dialog, setDialog] = useState<'rename' | 'leave'>();
  const { name } = project;
  const isOnlyOwner = project.role === 'owner' && project.members.filter(({ role }) => role === 'owner').length === 1;
  const leave = async () => {
    setDialog(undefined);
    if (await changes.removeMember(project, user.id)) await navigate({ to: '/' });
  };
  return (
    <header className={classes.head}>
      <h1 className={classes.title}>
        <bdi>{name}</bdi>
      </h1>
      <div className={classes.headActions}>
        {project.archived ? null : (
          <Button
            renderRoot={(props) => <Link to="/" search={{ project: project.id }} {...props} />}
            leftSection={<SquarePen size={16} aria-hidden />}
          >
            {t('nav.newConversation')}
          </Button>
        )}
        <Menu position="bottom-end" width={212}>
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={t('projects.options', { name })}>
              <Ellipsis size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {canManage(project) ? (
              <>
                <Menu.Item leftSection={<PencilLine size={15} />} onClick={() => setDialog('rename')}>
                  {t('nav.rename')}
                </Menu.Item>
                <Menu.Item
                  leftSection={project.archived ? <ArchiveRestore size={15} /> : <Archive size={15} />}
                  onClick={() => void changes.setArchived(project, !project.archived)}
                >
                  {t(project.archived ? 'nav.restore' : 'nav.archive')}
                </Menu.Item>
              </>
            ) : null}
            {project.role === null || isOnlyOwner ? null : (
              <Menu.Item leftSection={<LogOut size={15} />} onClick={() => setDialog('leave')}>
                {t('projects.leave')}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </div>
      {dialog === 'rename' ? (
        <NameDialog project={project} onDone={() => setDialog(undefined)} onClose={() => setDialog(undefined)} />
      ) : null}
      {dialog === 'leave' ? (
        <ConfirmDialog
          title={t('projects.leaveTitle', { name })}
          text={t('projects.leaveText')}
          confirmLabel={t('projects.leaveConfirm')}
          onConfirm={() => void leave()}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </header>
  );
}
