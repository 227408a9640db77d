import '../../forms/forms.css';
import { defaultBranding } from '@homeport/contracts/default-branding';
import { limits } from '@homeport/contracts/limits';
import type { Branding } from '@homeport/contracts/system';
import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { configQuery, publicConfigQuery } from '../../api/queries.ts';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import formClasses from '../../forms/form.module.css';
import { FormFailure } from '../../forms/notice.tsx';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { UnsavedGuard } from '../../layout/dialogs/unsaved-guard.tsx';
import { Card } from '../../layout/section.tsx';
import { showToast } from '../../layout/toasts.tsx';
import classes from './branding.module.css';
import { BrandingPreview } from './branding-preview.tsx';
import {
  type BrandingValues,
  brandingFaults,
  brandingPatch,
  brandingValues,
  chosenBranding,
} from './branding-values.ts';
import { ColorField } from './color-field.tsx';
import { ContrastNotes } from './contrast-notes.tsx';
import { ImageField } from './image-field.tsx';

/** Name, images and colors of the installation, with a preview. */
export function BrandingForm({ stored }: { stored: Branding }) {
  const t = useText();
  const queries = useQueryClient();
  const [initialValues] = useState(() => brandingValues(stored));
  const { form, formProps, isBusy, failure } = useApiForm<BrandingValues>({
    initialValues,
    validate: (values) => brandingFaults(values, t),
    fieldOf: (path) => path.replace(/^branding\./, ''),
    submit: async (values) => {
      const config = await call('POST /api/admin/config', { body: { branding: brandingPatch(values, stored) } });
      queries.setQueryData(configQuery.queryKey, config);
      // The page itself switches to the new look.
      queries.setQueryData(publicConfigQuery.queryKey, (known) =>
        known ? { ...known, branding: config.branding } : known,
      );
      form.setValues(brandingValues(config.branding));
      showToast(t('branding.saved'));
    },
  });
  const { values } = form;
  const chosen = chosenBranding(values, stored);
  const isDirty = JSON.stringify(values) !== JSON.stringify(brandingValues(stored));
  const isDefault = JSON.stringify(chosen) === JSON.stringify(defaultBranding);
  const put = (next: Partial<BrandingValues>) => {
    form.clearErrors();
    form.setValues(next);
  };
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={isDirty} />
      <BrandingPreview branding={chosen} />
      <Card title={t('branding.words')}>
        <div className={formClasses.form}>
          <TextInput
            {...form.getInputProps('productName')}
            label={t('branding.productName')}
            description={t('branding.productNameHint')}
            maxLength={limits.productNameMax}
            autoComplete="off"
          />
          <TextInput
            {...form.getInputProps('tagline')}
            label={t('branding.tagline')}
            description={t('branding.taglineHint')}
            maxLength={limits.taglineMax}
            autoComplete="off"
          />
        </div>
      </Card>
      <Card title={t('branding.images')} text={t('branding.imagesText')}>
        <div className={classes.images}>
          <ImageField
            label={t('branding.logo')}
            value={values.logoDataUrl}
            error={form.errors.logoDataUrl}
            onChange={(logoDataUrl) => put({ logoDataUrl })}
          />
          <ImageField
            label={t('branding.favicon')}
            value={values.faviconDataUrl}
            error={form.errors.faviconDataUrl}
            onChange={(faviconDataUrl) => put({ faviconDataUrl })}
          />
        </div>
      </Card>
      <Card title={t('branding.colors')} text={t('branding.colorsText')}>
        <div className={formClasses.form}>
          <ColorField
            {...form.getInputProps('primaryColor')}
            label={t('branding.primaryColor')}
            value={values.primaryColor}
            onChange={(primaryColor) => form.setFieldValue('primaryColor', primaryColor)}
          />
          <ChoiceChips
            legend={t('branding.foreground')}
            options={[
              { value: 'auto', label: t('branding.foregroundAuto') },
              { value: 'own', label: t('branding.foregroundOwn') },
            ]}
            value={values.foreground}
            onChange={(foreground) => put({ foreground, primaryForegroundColor: chosen.primaryForegroundColor })}
            hint={t(values.foreground === 'auto' ? 'branding.foregroundAutoHint' : 'branding.foregroundOwnHint')}
          />
          {values.foreground === 'own' ? (
            <ColorField
              {...form.getInputProps('primaryForegroundColor')}
              label={t('branding.foregroundColor')}
              value={values.primaryForegroundColor}
              onChange={(color) => form.setFieldValue('primaryForegroundColor', color)}
            />
          ) : null}
          <ContrastNotes
            branding={chosen}
            onUse={(color) => put({ foreground: 'own', primaryForegroundColor: color })}
          />
        </div>
      </Card>
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <Button
          variant="default"
          className={formClasses.spread}
          disabled={isDefault}
          onClick={() => put(brandingValues(defaultBranding))}
        >
          {t('branding.reset')}
        </Button>
        {isDirty ? (
          <Button variant="subtle" color="gray" onClick={() => put(brandingValues(stored))}>
            {t('admin.undo')}
          </Button>
        ) : null}
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
