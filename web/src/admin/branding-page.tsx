import { useText } from '../i18n.ts';
import { BrandingForm } from './branding-form.tsx';
import { ConfigSection } from './config-section.tsx';

/** `/settings/admin/branding` */
export function BrandingPage() {
  const t = useText();
  return (
    <ConfigSection title={t('settings.branding')} text={t('branding.text')}>
      {({ branding }) => <BrandingForm stored={branding} />}
    </ConfigSection>
  );
}
