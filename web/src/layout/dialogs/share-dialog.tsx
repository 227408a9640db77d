import '../../forms/switch.css';
import 'virtual:texts/shares';
import '../../forms/forms.css';
import type { SecretPlace, ShareAudience, SharingPolicy } from '@homeport/contracts/sharing';
import { Button, NativeSelect, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { meQuery } from '../../api/queries.ts';
import { useCopy } from '../../clipboard.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import formClasses from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { PasswordField } from '../../forms/password-field.tsx';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useText } from '../../i18n/i18n.ts';
import { projectsQuery } from '../records/projects-api.ts';
import { sharesQuery } from '../records/shares-api.ts';
import { FormDialog } from './form-dialog.tsx';
import classes from './share-dialog.module.css';

/** The shared thing: a conversation up to the newest message shown, or a file. */
type ShareSource = { chatId: string } | { artifactId: string };
type Props = { title: string; source: ShareSource; onClose: () => void };

/** Dialog that makes a link to a conversation or file. */
export function ShareDialog({ title, source, onClose }: Props) {
  const t = useText();
  const [url, setUrl] = useState<string>();
  const { data, error } = useQuery(sharesQuery);
  return (
    <FormDialog title={t('share.title', { title })} isFirm={url !== undefined} onClose={onClose}>
      {({ cancel }) => {
        if (url !== undefined) return <CreatedLink url={url} onClose={onClose} />;
        if (error) return <FormFailure failure={error} />;
        if (!data) return null;
        if (data.sharing === 'off') return <Notice kind="info">{t('share.off')}</Notice>;
        return <ShareForm source={source} policy={data.sharing} cancel={cancel} onCreated={setUrl} />;
      }}
    </FormDialog>
  );
}

function CreatedLink({ url, onClose }: { url: string; onClose: () => void }) {
  const t = useText();
  const { isCopied, copy } = useCopy();
  return (
    <div className={formClasses.form}>
      <label className={classes.link}>
        {t('share.link')}
        <input readOnly value={url} spellCheck={false} onFocus={(event) => event.currentTarget.select()} />
      </label>
      <p className={classes.hint}>{t('share.once')}</p>
      <div className={formClasses.actions}>
        <Button variant="default" onClick={onClose}>
          {t('share.close')}
        </Button>
        <Button data-autofocus onClick={() => copy(url)}>
          {t(isCopied ? 'share.copied' : 'share.copy')}
        </Button>
      </div>
    </div>
  );
}

const ends = { day: 1, week: 7, month: 30, never: undefined } as const;
type End = keyof typeof ends;
const endNames = ['day', 'week', 'month', 'never'] as const satisfies readonly End[];
const parts = ['files', 'tools', 'reasoning', 'author'] as const;
const noParts = { files: false, tools: false, reasoning: false, author: false };

type FormProps = {
  source: ShareSource;
  policy: SharingPolicy;
  cancel: ReactNode;
  onCreated: (url: string) => void;
};

function ShareForm({ source, policy, cancel, onCreated }: FormProps) {
  const t = useText();
  const queries = useQueryClient();
  const { conversation } = useClientSession();
  const isChat = 'chatId' in source;
  const [audience, setAudience] = useState<ShareAudience>(policy === 'public' ? 'link' : 'signed_in');
  const [userIds, setUserIds] = useState<readonly string[]>([]);
  const [end, setEnd] = useState<End>('month');
  const [password, setPassword] = useState('');
  const [include, setInclude] = useState(noParts);
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const secrets = secretsOf(failure);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      const body = {
        ...source,
        ...(isChat ? { leafMessageId: conversation(source.chatId).getView().messages.at(-1)?.id ?? '' } : {}),
        audience,
        expiresAt: endOf(end),
        include,
        ...(audience === 'people' ? { userIds: [...userIds] } : {}),
        ...(password === '' ? {} : { password }),
        ...(secrets.length > 0 ? { confirmSecrets: true } : {}),
      };
      const { url } = await call('POST /api/shares', { body });
      void queries.invalidateQueries({ queryKey: sharesQuery.queryKey });
      onCreated(url);
    } catch (thrown) {
      setFailure(thrown);
    }
    setBusy(false);
  };
  return (
    <form onSubmit={(event) => void submit(event)} className={formClasses.form} noValidate>
      <p className={classes.hint}>{t(isChat ? 'share.text' : 'share.fileText')}</p>
      <NativeSelect
        label={t('share.audience')}
        value={audience}
        onChange={(event) => setAudience(event.currentTarget.value as ShareAudience)}
        data={audiencesOf(policy).map((value) => ({ value, label: t(`share.audience.${value}`) }))}
      />
      {audience === 'people' ? <People chosen={userIds} onChange={setUserIds} /> : null}
      <NativeSelect
        label={t('share.ends')}
        value={end}
        onChange={(event) => setEnd(event.currentTarget.value as End)}
        data={endNames.map((value) => ({ value, label: t(`share.ends.${value}`) }))}
      />
      <PasswordField
        label={t('share.password')}
        description={t('share.passwordHint')}
        value={password}
        autoComplete="new-password"
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <fieldset className={classes.include}>
        <legend>{t('share.include')}</legend>
        {parts
          .filter((part) => isChat || part === 'author')
          .map((part) => (
            <Switch
              key={part}
              label={t(`share.include.${part}`)}
              checked={include[part]}
              onChange={(event) => setInclude({ ...include, [part]: event.currentTarget.checked })}
            />
          ))}
      </fieldset>
      {secrets.length > 0 ? <Secrets places={secrets} /> : <FormFailure failure={failure} />}
      <div className={formClasses.actions}>
        {cancel}
        <SubmitButton
          label={t(secrets.length > 0 ? 'share.createAnyway' : 'share.create')}
          busyLabel={t('share.creating')}
          isBusy={isBusy}
        />
      </div>
    </form>
  );
}

function Secrets({ places }: { places: readonly SecretPlace[] }) {
  const t = useText();
  return (
    <Notice kind="warning" title={t('share.secrets')}>
      <ul className={classes.places}>
        {places.map(({ kind, filename, start }, index) => (
          <li key={index}>
            {filename === null
              ? t('share.secretIn', { kind, start })
              : t('share.secretInFile', { kind, filename, start })}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** Members of the person's projects, to choose from. */
function People({ chosen, onChange }: { chosen: readonly string[]; onChange: (ids: string[]) => void }) {
  const t = useText();
  const { data: me } = useQuery(meQuery);
  const { data, error } = useQuery(projectsQuery(false));
  if (error) return <FormFailure failure={error} />;
  const members = new Map((data ?? []).flatMap((project) => project.members).map((member) => [member.userId, member]));
  members.delete(me?.user.id ?? '');
  if (members.size === 0) return <p className={classes.hint}>{t('share.noPeople')}</p>;
  return (
    <fieldset className={classes.include}>
      <legend>{t('share.people')}</legend>
      {[...members.values()].map(({ userId, name, email }) => (
        <label key={userId} className={classes.person}>
          <input
            type="checkbox"
            checked={chosen.includes(userId)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...chosen, userId] : chosen.filter((id) => id !== userId))
            }
          />
          <span>
            <bdi>{name}</bdi> <span className={classes.hint}>{email}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function audiencesOf(policy: SharingPolicy): ShareAudience[] {
  return policy === 'public' ? ['link', 'signed_in', 'people'] : ['signed_in', 'people'];
}

function endOf(end: End): string | null {
  const days = ends[end];
  return days === undefined ? null : new Date(Date.now() + days * 86_400_000).toISOString();
}

function secretsOf(failure: unknown): SecretPlace[] {
  if (!(failure instanceof ApiFailure) || failure.code !== 'secrets_found') return [];
  const { details } = failure;
  const places = typeof details === 'object' && details !== null && 'places' in details ? details.places : undefined;
  return Array.isArray(places) ? places : [];
}
