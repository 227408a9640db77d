import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Search, UserRoundPlus } from 'lucide-react';
import { useState } from 'react';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { useClientSession } from '../../conversation/client-session.ts';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { MoreButton } from '../../layout/more-button.tsx';
import { Card, EmptyState, Section } from '../../layout/section.tsx';
import classes from '../admin.module.css';
import { usersQuery } from '../admin-queries.ts';
import { BulkSwitches } from './bulk-switches.tsx';
import { CreateUserDialog } from './create-user-dialog.tsx';
import { UserRow } from './user-row.tsx';

/** `/settings/admin/users` */
export function UsersPage() {
  const t = useText();
  const { user: me } = useClientSession();
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 250);
  const [isCreating, setCreating] = useState(false);
  const query = useInfiniteQuery(usersQuery(q));
  const users = query.data?.pages.flatMap((page) => page.users) ?? [];
  const isAlone = q === '' && users.length === 1 && !query.hasNextPage;
  const add = (
    <Button leftSection={<UserRoundPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      {t('users.add')}
    </Button>
  );
  return (
    <Section title={t('settings.users')} text={t('users.text')} action={isAlone ? undefined : add}>
      {isAlone ? null : (
        <TextInput
          type="search"
          value={text}
          maxLength={limits.searchMax}
          onChange={(event) => setText(event.currentTarget.value)}
          aria-label={t('users.search')}
          placeholder={t('users.search')}
          leftSection={<Search size={15} aria-hidden />}
        />
      )}
      <span role="status" className="visually-hidden">
        {q !== '' && query.data && !query.isPlaceholderData ? t('users.found', { count: users.length }) : ''}
      </span>
      {query.error ? <FormFailure failure={query.error} /> : null}
      {query.data || query.error ? null : <Loading />}
      {users.length > 0 ? (
        <ul className={classes.list} aria-label={t('settings.users')} aria-busy={query.isPlaceholderData}>
          {users.map((user) => (
            <UserRow key={user.id} user={user} isMe={user.id === me.id} />
          ))}
        </ul>
      ) : null}
      {query.data && users.length === 0 ? <EmptyState text={t('users.noHits', { query: q })} /> : null}
      <MoreButton query={query} />
      {isAlone ? (
        <EmptyState
          title={t('users.aloneTitle')}
          text={t('users.aloneText')}
          action={
            <div className={classes.choices}>
              <Button component={Link} to="/settings/admin/invitations">
                {t('users.aloneInvite')}
              </Button>
              <Button variant="default" onClick={() => setCreating(true)}>
                {t('users.add')}
              </Button>
            </div>
          }
        />
      ) : (
        <Card title={t('users.bulk')} text={t('users.bulkText')}>
          <BulkSwitches />
        </Card>
      )}
      {isCreating ? <CreateUserDialog onClose={() => setCreating(false)} /> : null}
    </Section>
  );
}
