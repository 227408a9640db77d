import '../../forms/switch.css';
import 'virtual:texts/shares';
import '../../forms/forms.css';
import type { Person } from '@homeport/contracts/projects';
import type { SecretPlace, ShareAudience, SharingPolicy } from '@homeport/contracts/sharing';
import { Button, NativeSelect, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { useCopy } from '../../clipboard.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import formClasses from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { PasswordField } from '../../forms/password-field.tsx';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useText } from '../../i18n/i18n.ts';
import { sharesQuery } from '../records/shares-api.ts';
import { FormDialog } from './form-dialog.tsx';
import classes from './share-dialog.module.css';
import { type End, endNames, endOf, ReadersField } from './share-fields.tsx';

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
  /** As it is shown, or as it is stored for a conversation that is not open. */
  const newestMessage = async (chatId: string): Promise<string> => {
    const shown = conversation(chatId).getView().messages.at(-1)?.id;
    if (shown !== undefined) return shown;
    const stored = await call('GET /api/chats', { query: { id: chatId } });
    return 'messages' in stored ? (stored.messages.at(-1)?.id ?? '') : '';
  };
  const isChat = 'chatId' in source;
  const [audience, setAudience] = useState<ShareAudience>(policy === 'public' ? 'link' : 'signed_in');
  const [people, setPeople] = useState<readonly Person[]>([]);
  const [isAsked, setAsked] = useState(false);
  const [end, setEnd] = useState<End>('month');
  const [password, setPassword] = useState('');
  const [include, setInclude] = useState(noParts);
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const secrets = secretsOf(failure);
  const lacksPeople = audience === 'people' && people.length === 0;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (isBusy || lacksPeople) return;
    setBusy(true);
    try {
      const body = {
        ...source,
        ...(isChat ? { leafMessageId: await newestMessage(source.chatId) } : {}),
        audience,
        expiresAt: endOf(end),
        include,
        ...(audience === 'people' ? { userIds: people.map(({ id }) => id) } : {}),
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
      <ReadersField
        policy={policy}
        audience={audience}
        people={people}
        error={isAsked && lacksPeople ? t('share.choosePeople') : undefined}
        onAudience={setAudience}
        onPeople={setPeople}
      />
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

function secretsOf(failure: unknown): SecretPlace[] {
  if (!(failure instanceof ApiFailure) || failure.code !== 'secrets_found') return [];
  const { details } = failure;
  const places = typeof details === 'object' && details !== null && 'places' in details ? details.places : undefined;
  return Array.isArray(places) ? places : [];
}
