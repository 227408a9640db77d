import { useText } from '../../i18n/i18n.ts';
import { ConfigSection } from '../config-section.tsx';
import { SingleSignOnForm } from './single-sign-on-form.tsx';

/** `/settings/admin/single-sign-on` */
export function SingleSignOnPage() {
  const t = useText();
  return (
    <ConfigSection title={t('settings.singleSignOn')} text={t('sso.text')}>
      {({ oidc }) => <SingleSignOnForm stored={oidc} />}
    </ConfigSection>
  );
}
