import { MessagePage } from '../frame/message-page.tsx';
import { useText } from '../i18n.ts';

export function PasswordPage() {
  const t = useText();
  return <MessagePage title={t('pages.password')} />;
}
