import type { Person, Project, ProjectMember } from '@homeport/contracts/projects';
import { ActionIcon } from '@mantine/core';
import { X } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { call } from '../api/api.ts';
import { useClientSession } from '../conversation/client-session.ts';
import { FormFailure } from '../forms/notice.tsx';
import { SmallSelect } from '../forms/small-select.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { PeoplePicker } from '../layout/people-picker.tsx';
import { useProjectChanges } from '../layout/records/use-project-changes.ts';
import { showToast } from '../layout/toasts.tsx';
import classes from './projects.module.css';

/** Members of a project; owners add and remove members and change roles. */
export function MembersView({ project }: { project: Project }) {
  const t = useText();
  const changes = useProjectChanges();
  const [removing, setRemoving] = useState<ProjectMember>();
  const owners = project.members.filter(({ role }) => role === 'owner').length;
  const canEdit = project.role === 'owner';
  return (
    <>
      <p className={classes.hint}>{t('projects.membersHint')}</p>
      {canEdit ? <AddMembers project={project} /> : null}
      <ul className={classes.members} aria-label={t('projects.tab.members')}>
        {project.members.map((member) => (
          <Member
            key={member.userId}
            member={member}
            canEdit={canEdit}
            isLastOwner={member.role === 'owner' && owners === 1}
            onRole={(role) => void changes.setRole(project, member.email, role)}
            onRemove={() => setRemoving(member)}
          />
        ))}
      </ul>
      {removing ? (
        <ConfirmDialog
          title={t('projects.removeTitle', { name: removing.name })}
          text={t('projects.removeText')}
          confirmLabel={t('projects.removeConfirm')}
          onConfirm={() => {
            void changes.removeMember(project, removing.userId);
            setRemoving(undefined);
          }}
          onClose={() => setRemoving(undefined)}
        />
      ) : null}
    </>
  );
}

function Member({
  member,
  canEdit,
  isLastOwner,
  onRole,
  onRemove,
}: {
  member: ProjectMember;
  canEdit: boolean;
  isLastOwner: boolean;
  onRole: (role: 'owner' | 'member') => void;
  onRemove: () => void;
}) {
  const t = useText();
  const { user } = useClientSession();
  const { name, email, role } = member;
  const isSelf = member.userId === user.id;
  return (
    <li className={classes.member}>
      <span className={classes.avatar} aria-hidden>
        {initials(name)}
      </span>
      <span className={classes.about}>
        <span className={classes.memberName}>
          <bdi>{name}</bdi>
          {isSelf ? <span className={classes.self}>{t('projects.you')}</span> : null}
        </span>
        <span className={classes.email}>{email}</span>
      </span>
      {canEdit && !isLastOwner ? (
        <SmallSelect
          label={t('projects.roleOf', { name })}
          value={role}
          options={[
            { value: 'member', label: t('projects.role.member') },
            { value: 'owner', label: t('projects.role.owner') },
          ]}
          onChange={(given) => onRole(given === 'owner' ? 'owner' : 'member')}
        />
      ) : (
        <span className={classes.roleWord}>{t(`projects.role.${role}`)}</span>
      )}
      {canEdit && !isSelf ? (
        <ActionIcon
          variant="subtle"
          color="gray"
          size={30}
          aria-label={t('projects.removeNamed', { name })}
          title={t('projects.removeNamed', { name })}
          onClick={onRemove}
        >
          <X size={16} />
        </ActionIcon>
      ) : null}
    </li>
  );
}

/** Adds people who are chosen from those that the owner can find. */
function AddMembers({ project }: { project: Project }) {
  const t = useText();
  const { refresh } = useProjectChanges();
  const [chosen, setChosen] = useState<readonly Person[]>([]);
  const [failure, setFailure] = useState<unknown>();
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const count = chosen.length;
  const add = async (event: FormEvent) => {
    event.preventDefault();
    setAsked(count === 0);
    if (isBusy || count === 0) return;
    setBusy(true);
    setFailure(undefined);
    let left = chosen;
    try {
      for (const person of chosen) {
        const body = { projectId: project.id, email: person.email, role: 'member' } as const;
        await call('POST /api/projects/members', { body });
        left = left.filter(({ id }) => id !== person.id);
      }
      showToast(t('projects.added', { count, name: chosen[0]?.name ?? '' }));
    } catch (thrown) {
      setFailure(thrown);
    }
    setChosen(left);
    await refresh();
    setBusy(false);
  };
  return (
    <form onSubmit={(event) => void add(event)} className={classes.addMembers} noValidate>
      <PeoplePicker
        legend={t('projects.addLabel')}
        chosen={chosen}
        onChange={setChosen}
        without={project.members.map(({ userId }) => userId)}
        error={isAsked && count === 0 ? t('projects.chooseFirst') : undefined}
      />
      <FormFailure failure={failure} />
      <SubmitButton label={t('projects.add', { count })} busyLabel={t('form.saving')} isBusy={isBusy} />
    </form>
  );
}

function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => Array.from(word ?? '')[0] ?? '',
  );
  return letters.join('').toUpperCase();
}
