import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { MailPlus, Search, UserRoundPlus } from 'lucide-react';
import { useState } from 'react';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { useClientSession } from '../../conversation/client-session.ts';
import { FormFailure } from '../../forms/notice.tsx';
import { SmallSelect } from '../../forms/small-select.tsx';
import { useText } from '../../i18n/i18n.ts';
import { MoreButton } from '../../layout/more-button.tsx';
import { Card, EmptyState, Section } from '../../layout/section.tsx';
import classes from '../admin.module.css';
import { openInvitationsQuery, usersQuery } from '../admin-queries.ts';
import { BulkSwitches } from './bulk-switches.tsx';
import { CreateUserDialog } from './create-user-dialog.tsx';
import { InvitationRows } from './invitation-rows.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import people from './people.module.css';
import { peopleFilters, peopleSorts, readPeopleSearch, writePeopleSearch } from './people-search.ts';
import { SelectionBar } from './selection-bar.tsx';
import { UserRow } from './user-row.tsx';

/** `/settings/admin/users`: accounts and open invitations in one list. */
export function UsersPage() {
  const t = useText();
  const { user: me } = useClientSession();
  const navigate = useNavigate();
  const { show, sort } = readPeopleSearch(useSearch({ from: '/signed-in/settings/admin/users' }));
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 250);
  const [isCreating, setCreating] = useState(false);
  const [isInviting, setInviting] = useState(false);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const hasInvitations = show === 'everyone' || show === 'invited';
  const query = useInfiniteQuery(usersQuery(q, show, sort));
  const invited = useInfiniteQuery({ ...openInvitationsQuery(q), enabled: hasInvitations });
  const users = show === 'invited' ? [] : (query.data?.pages.flatMap((page) => page.users) ?? []);
  const invitations = hasInvitations ? (invited.data?.pages.flatMap((page) => page.invitations) ?? []) : [];
  const total = show === 'invited' ? 0 : (query.data?.pages[0]?.total ?? 0);
  const isLoaded = show === 'invited' ? invited.data !== undefined : query.data !== undefined;
  const failure = query.error ?? invited.error;
  const choose = (change: { show?: string; sort?: string }) => {
    setPicked(new Set());
    const search = writePeopleSearch({ show, sort, ...change });
    void navigate({ to: '/settings/admin/users', search, replace: true });
  };
  const pick = (id: string, isOn: boolean) => {
    const next = new Set(picked);
    if (isOn) next.add(id);
    else next.delete(id);
    setPicked(next);
  };
  // Someone who is no longer shown is not changed.
  const chosen = users.filter(({ id }) => picked.has(id));
  const count = t('users.count', {
    people: total,
    invited: invitations.length,
    more: invited.hasNextPage ? 'yes' : 'no',
  });
  return (
    <Section
      title={t('settings.users')}
      text={t('users.text')}
      action={
        <div className={people.actions}>
          <Button
            variant="default"
            leftSection={<UserRoundPlus size={16} aria-hidden />}
            onClick={() => setCreating(true)}
          >
            {t('users.add')}
          </Button>
          <Button variant="filled" leftSection={<MailPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
            {t('users.invite')}
          </Button>
        </div>
      }
    >
      <div className={people.controls}>
        <TextInput
          type="search"
          className={people.search}
          value={text}
          maxLength={limits.searchMax}
          onChange={(event) => setText(event.currentTarget.value)}
          aria-label={t('users.search')}
          placeholder={t('users.search')}
          leftSection={<Search size={15} aria-hidden />}
        />
        <SmallSelect
          size="sm"
          label={t('users.show')}
          value={show}
          options={peopleFilters.map((value) => ({ value, label: t(`users.show.${value}`) }))}
          onChange={(value) => choose({ show: value })}
        />
        <SmallSelect
          size="sm"
          label={t('users.sort')}
          value={sort}
          options={peopleSorts.map((value) => ({ value, label: t(`users.sort.${value}`) }))}
          onChange={(value) => choose({ sort: value })}
        />
      </div>
      <p role="status" className={people.count}>
        {isLoaded && !query.isPlaceholderData ? count : ''}
      </p>
      {chosen.length > 0 ? <SelectionBar users={chosen} onDone={() => setPicked(new Set())} /> : null}
      {failure ? <FormFailure failure={failure} /> : null}
      {isLoaded || failure ? null : <Loading />}
      {users.length + invitations.length > 0 ? (
        <ul className={classes.list} aria-label={t('settings.users')} aria-busy={query.isPlaceholderData}>
          <InvitationRows invitations={invitations} />
          {users.map((user) => (
            <UserRow
              key={user.id}
              user={user}
              isMe={user.id === me.id}
              isPicked={picked.has(user.id)}
              onPick={(isOn) => pick(user.id, isOn)}
            />
          ))}
        </ul>
      ) : null}
      {isLoaded && users.length + invitations.length === 0 ? (
        <EmptyState text={q === '' ? t('users.noneShown') : t('users.noHits', { query: q })} />
      ) : null}
      <MoreButton query={show === 'invited' ? invited : query} />
      {hasInvitations ? (
        <Link to="/settings/admin/invitations" className={people.link}>
          {t('users.allInvitations')}
        </Link>
      ) : null}
      {isLoaded && total > 1 ? (
        <Card title={t('users.bulk')} text={t('users.bulkText')}>
          <BulkSwitches />
        </Card>
      ) : null}
      {isCreating ? <CreateUserDialog onClose={() => setCreating(false)} /> : null}
      {isInviting ? <InviteDialog again={undefined} onClose={() => setInviting(false)} /> : null}
    </Section>
  );
}
