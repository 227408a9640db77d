import '../forms/forms.css';
import 'virtual:texts/shares';
import 'virtual:texts/pages';
import type { OpenedShare } from '@homeport/contracts/sharing';
import { Button, Loader } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { useBranding, useTitle } from '../layout/branding.ts';
import { showFailure } from '../layout/toasts.tsx';
import { EntryPage } from '../sign-in/sign-in-layout.tsx';
import { wasSignedIn } from '../signed-in-flag.ts';
import classes from './share-page.module.css';
import { SharedFiles, SharedMessage } from './shared-message.tsx';

/** `/s/<token>`: a shared conversation or file, read-only, for readers with and without an account. */
export function SharePage() {
  const { token = '' } = useParams({ strict: false });
  return <Share key={token} token={token} />;
}

function Share({ token }: { token: string }) {
  const t = useText();
  const [password, setPassword] = useState<string>();
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['shared', token, password],
    queryFn: ({ signal }) =>
      call('POST /api/shares/open', { body: { token, ...(password === undefined ? {} : { password }) }, signal }),
    // Every request counts as a view.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: false,
    gcTime: 0,
  });
  useNoIndex();
  if (data) return <Opened opened={data} token={token} password={password} />;
  const code = error instanceof ApiFailure ? error.code : undefined;
  if (code === 'share_password' || (password !== undefined && !error)) {
    return <Locked isWrong={password !== undefined && !isFetching} isBusy={isFetching} onPassword={setPassword} />;
  }
  if (code === 'not_found' || code === 'invalid_request') {
    return <EntryPage title={t('share.gone')} text={t('share.goneText')} />;
  }
  return (
    <EntryPage title={t('share.listTitle')}>
      {error ? (
        <>
          <FormFailure failure={error} />
          <Button variant="default" onClick={() => void refetch()}>
            {t('app.retry')}
          </Button>
        </>
      ) : (
        <Loader aria-label={t('app.loading')} />
      )}
    </EntryPage>
  );
}

type LockedProps = { isWrong: boolean; isBusy: boolean; onPassword: (password: string) => void };

function Locked({ isWrong, isBusy, onPassword }: LockedProps) {
  const t = useText();
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy && text !== '') onPassword(text);
  };
  return (
    <EntryPage title={t('share.locked')} text={t('share.lockedText')}>
      <form onSubmit={submit} className={formClasses.form} noValidate>
        <PasswordField
          label={t('share.lockedField')}
          value={text}
          autoComplete="off"
          autoFocus
          error={isWrong ? t('share.wrong') : undefined}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <SubmitButton label={t('share.open')} busyLabel={t('share.opening')} isBusy={isBusy} isWide />
      </form>
    </EntryPage>
  );
}

type OpenedProps = { opened: OpenedShare; token: string; password: string | undefined };

function Opened({ opened: { share, messages, files }, token, password }: OpenedProps) {
  const t = useText();
  const branding = useBranding();
  useTitle(share.title);
  const date = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'long' }).format(new Date(share.updatedAt));
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <img src={branding.logoDataUrl ?? '/favicon.svg'} alt="" width={28} height={28} />
        <span className={classes.product}>{branding.productName}</span>
        {share.kind === 'chat' && wasSignedIn() ? <CopyButton token={token} password={password} /> : null}
      </header>
      <main id="content" className={classes.content}>
        <h1 className={classes.title} dir="auto">
          {share.title}
        </h1>
        <p className={classes.facts}>
          {share.author === null ? null : <span>{t('share.pageBy', { name: share.author })} · </span>}
          <time dateTime={share.updatedAt}>{t('share.pageAt', { date })}</time>
        </p>
        {messages.map((message) => (
          <SharedMessage key={message.id} message={message} files={files} />
        ))}
        {share.kind === 'file' ? <SharedFiles files={files} /> : null}
      </main>
    </div>
  );
}

function CopyButton({ token, password }: { token: string; password: string | undefined }) {
  const t = useText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const copy = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const body = { token, ...(password === undefined ? {} : { password }) };
      const { chat } = await call('POST /api/shares/copy', { body });
      void queries.invalidateQueries({ queryKey: ['chats'] });
      await navigate({ to: '/c/$chatId', params: { chatId: chat.id } });
    } catch (failure) {
      showFailure(t('share.keepFailed'), failureText(failure, t));
      setBusy(false);
    }
  };
  return (
    <Button size="compact-sm" className={classes.keep} aria-disabled={isBusy} onClick={() => void copy()}>
      {t('share.keep')}
    </Button>
  );
}

/** Keeps the page out of search engines that read only its elements, not the header. */
function useNoIndex(): void {
  useEffect(() => {
    const tag = document.createElement('meta');
    tag.name = 'robots';
    tag.content = 'noindex';
    document.head.append(tag);
    return () => tag.remove();
  }, []);
}
