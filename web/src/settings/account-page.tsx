import { Button, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { readPreviewOpening, writePreviewOpening } from '../conversation/choices/preview-opening.ts';
import { readScrollPreference, writeScrollPreference } from '../conversation/choices/scroll-preference.ts';
import { readSendKey, writeSendKey } from '../conversation/choices/send-key.ts';
import { useClientSession } from '../conversation/client-session.ts';
import { ChangePasswordForm } from '../forms/change-password-form.tsx';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import { locales } from '../i18n/choose-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { useLocale } from '../i18n/locale.ts';
import { keyText, mod } from '../layout/palette/shortcuts.ts';
import { Card, Section } from '../layout/section.tsx';
import { useSignOut } from '../layout/sign-out.ts';
import { showToast } from '../layout/toasts.tsx';
import { IdentitiesCard } from './identities-card.tsx';
import { ProfileForm } from './profile-form.tsx';
import { SessionsCard } from './sessions-card.tsx';

const schemes = ['auto', 'light', 'dark'] as const;
const sendKeys = ['enter', 'modified'] as const;
const scrolls = ['follow', 'stay'] as const;
const previewOpenings = ['open', 'link'] as const;

/** `/settings/account` */
export function AccountPage() {
  const t = useText();
  const { user } = useClientSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { locale, setLocale } = useLocale();
  const [scroll, setScroll] = useState(readScrollPreference);
  const [previews, setPreviews] = useState(readPreviewOpening);
  const [sendKey, setSendKey] = useState(readSendKey);
  const signOut = useSignOut();
  return (
    <Section title={t('settings.account')} text={t('account.text')}>
      <Card title={t('account.profile')}>
        <ProfileForm user={user} />
      </Card>
      <Card title={t('account.appearance')} text={t('account.appearanceText')}>
        <ChoiceChips
          legend={t('theme.label')}
          isLegendHidden
          options={schemes.map((scheme) => ({ value: scheme, label: t(`theme.${scheme}`) }))}
          value={colorScheme}
          onChange={setColorScheme}
        />
        <ChoiceChips
          legend={t('account.language')}
          options={locales.map(({ locale: value, name }) => ({ value, label: name }))}
          value={locale}
          onChange={(next) => void setLocale(next)}
        />
        <ChoiceChips
          legend={t('account.scroll')}
          options={scrolls.map((value) => ({ value, label: t(`account.scroll.${value}`) }))}
          value={scroll}
          onChange={(next) => {
            if (writeScrollPreference(next)) setScroll(next);
          }}
        />
        <ChoiceChips
          legend={t('account.previews')}
          options={previewOpenings.map((value) => ({ value, label: t(`account.previews.${value}`) }))}
          value={previews}
          onChange={(next) => {
            if (writePreviewOpening(next)) setPreviews(next);
          }}
        />
        <ChoiceChips
          legend={t('account.sendKey')}
          options={sendKeys.map((value) => ({
            value,
            label: t(`account.sendKey.${value}`, { key: keyText(mod, t) }),
          }))}
          value={sendKey}
          onChange={(next) => {
            if (writeSendKey(next)) setSendKey(next);
          }}
        />
      </Card>
      <Card title={t('account.password')} text={t('account.passwordText')}>
        <ChangePasswordForm email={user.email} onChanged={() => showToast(t('password.done'))} />
      </Card>
      <IdentitiesCard />
      <SessionsCard />
      <Card
        title={t('account.signOut')}
        text={t('account.signOutText')}
        action={
          <Button variant="default" onClick={() => void signOut()}>
            {t('account.signOut')}
          </Button>
        }
      />
    </Section>
  );
}
