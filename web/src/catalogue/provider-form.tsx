import '../forms/forms.css';
import 'virtual:texts/catalogue';
import { cutEndpoint } from '@homeport/contracts/catalogue/base-url';
import type { Provider } from '@homeport/contracts/catalogue/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { catalogueQuery } from '../api/queries.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import classes from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { StoredSecretField } from '../forms/stored-secret-field.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { type ApiForm, useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { useCatalogueApi } from './catalogue-api.ts';
import { FindServers } from './find-servers.tsx';
import { HeaderEditor } from './header-editor.tsx';
import { hostedPreset, type ProviderPreset, providerPresets } from './provider-presets.ts';
import { ProviderTestResult } from './provider-test-result.tsx';
import {
  originLeft,
  type ProviderValues,
  providerBody,
  providerFaults,
  providerField,
  providerTestBody,
  providerValues,
} from './provider-values.ts';
import { SharingField, useCanShare } from './sharing-field.tsx';
import { StoredHeadersNotice } from './stored-headers-notice.tsx';
import { useProviderPreset } from './use-provider-preset.ts';
import { useProviderTest } from './use-provider-test.ts';

type Props = {
  provider: Provider | undefined;
  /** The wizard tests before it saves; elsewhere testing is optional. */
  testsFirst?: boolean;
  submitLabel: string;
  /** `found` are the models from a successful test. */
  onSaved: (provider: Provider, found: readonly ListedModel[] | undefined) => void;
  onDirty?: (isDirty: boolean) => void;
  beside?: ReactNode;
};

type Form = ApiForm<ProviderValues>['form'];

const initialPreset = providerPresets[0];

/** Adds a provider or changes one. */
export function ProviderForm({ provider, testsFirst = false, submitLabel, onSaved, onDirty, beside }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const calls = useCatalogueApi();
  const connection = useConnectionTest(provider);
  const canShare = useCanShare();
  const skipsTest = useRef(false);
  const [initialValues] = useState(() => ({
    ...providerValues(provider),
    ...(provider ? {} : { name: initialPreset.name, baseUrl: initialPreset.baseUrl, kind: initialPreset.kind }),
  }));
  const api = useApiForm<ProviderValues>({
    initialValues,
    validate: (values) => providerFaults(values, t, provider?.hasApiKey === true),
    fieldOf: providerField,
    submit: async (values) => {
      let found = connection.found(values);
      if (testsFirst && !found && !skipsTest.current) {
        found = await connection.run(form, values);
        if (!found && connection.canTest(form, values)) return;
      }
      const body = providerBody(values, (field) => (!provider && field === 'kind') || form.isDirty(field));
      const { provider: saved } = provider
        ? await calls.changeProvider({ id: provider.id, ...body })
        : await calls.createProvider(body);
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      onSaved(saved, found);
    },
  });
  const { form, formProps, isBusy, failure } = api;
  const isDirty = form.isDirty();
  useEffect(() => onDirty?.(isDirty), [isDirty, onDirty]);

  const { preset, choosePreset, setBaseUrl } = useProviderPreset(form, provider, initialPreset);
  const [cut, setCut] = useState<string>();
  const cutBaseUrl = () => {
    const whole = cutEndpoint(form.getValues().baseUrl);
    if (whole.cut === undefined) return;
    setBaseUrl(whole.baseUrl);
    setCut(whole.cut);
  };
  const test = () => {
    if (api.check(['baseUrl', 'apiKey', 'headers'])) void connection.run(form, form.getValues());
  };
  const saveAnyway = () => {
    skipsTest.current = true;
    void api.submit();
  };
  const { state } = connection;
  const isTesting = state.kind === 'running';
  const isCurrent = connection.isFor(form.values);
  const canTest = connection.canTest(form, form.values);
  const left = originLeft(provider && { ...provider, address: provider.baseUrl }, form.values.baseUrl);
  const isVersioned = form.values.kind.startsWith('openai');
  // A preset has filled in the rest, so the key comes first.
  const apiKeyField = <ApiKeyField api={api} isStored={provider?.hasApiKey === true} staysWith={left} />;
  const hasHeaders = Object.keys(provider?.headers ?? {}).length > 0;
  return (
    <form {...formProps} className={classes.form}>
      {provider ? null : (
        <>
          <PresetFields form={form} preset={preset} onPreset={choosePreset} />
          {apiKeyField}
        </>
      )}
      <div className={classes.pair}>
        <TextInput
          {...form.getInputProps('name')}
          label={t('provider.name')}
          description={t('provider.nameHint')}
          autoComplete="off"
          data-autofocus={provider ? true : undefined}
        />
        <NativeSelect
          {...form.getInputProps('kind')}
          label={t('provider.kind')}
          description={t('provider.kindHint')}
          data={providerKinds.map((kind) => ({ value: kind, label: t(`provider.kind.${kind}`) }))}
        />
      </div>
      <TextInput
        {...form.getInputProps('baseUrl')}
        onChange={(event) => {
          setBaseUrl(event.currentTarget.value);
          setCut(undefined);
        }}
        onBlur={cutBaseUrl}
        label={t('provider.baseUrl')}
        description={
          cut === undefined
            ? t(isVersioned ? 'provider.baseUrlHint' : 'provider.baseUrlBareHint')
            : t('provider.baseUrlCut', { cut })
        }
        type="url"
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="https://api.example.com/v1"
      />
      {provider ? apiKeyField : null}
      {canShare || (provider?.sharedWith ?? 'none') !== 'none' ? (
        <SharingField
          value={form.values.sharedWith}
          onChange={(sharedWith) => form.setFieldValue('sharedWith', sharedWith)}
        />
      ) : null}
      <HeaderEditor form={form} hint={t('provider.headersHint')} />
      {left && hasHeaders && !form.isDirty('headers') ? <StoredHeadersNotice form={form} origin={left} /> : null}
      <TextInput
        {...form.getInputProps('firstByteSeconds')}
        label={t('provider.firstByte')}
        description={t('provider.firstByteHint')}
        inputMode="numeric"
        autoComplete="off"
      />
      <div className={classes.pair}>
        <TextInput
          {...form.getInputProps('region')}
          label={t('provider.region')}
          description={t('provider.regionHint')}
          autoComplete="off"
        />
        <TextInput
          {...form.getInputProps('onlyRegions')}
          label={t('provider.onlyRegions')}
          description={t('provider.onlyRegionsHint')}
          autoComplete="off"
        />
      </div>
      {provider?.outage ? <Notice kind="info">{t(`provider.outage.${provider.outage.reason}`)}</Notice> : null}
      {isCurrent ? (
        <ProviderTestResult
          state={state}
          baseUrl={form.values.baseUrl}
          onUseKind={(kind) => form.setFieldValue('kind', kind)}
          onUseBaseUrl={setBaseUrl}
          action={
            testsFirst && state.kind === 'failed' ? (
              <Button size="compact-sm" variant="default" onClick={saveAnyway}>
                {t('provider.saveAnyway')}
              </Button>
            ) : undefined
          }
        />
      ) : null}
      {canTest ? null : <Notice kind="info">{t('provider.testStored')}</Notice>}
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {testsFirst ? null : (
          <Button
            variant="default"
            className={classes.spread}
            aria-disabled={isTesting || !canTest}
            onClick={() => !isTesting && canTest && test()}
          >
            {t(isTesting ? 'provider.testing' : 'provider.test')}
          </Button>
        )}
        {beside}
        <SubmitButton
          label={submitLabel}
          busyLabel={t(isTesting ? 'provider.testing' : 'form.saving')}
          isBusy={isBusy}
        />
      </div>
    </form>
  );
}

type PresetProps = { form: Form; preset: ProviderPreset; onPreset: (key: ProviderPreset['key']) => void };

function PresetFields({ form, preset, onPreset }: PresetProps) {
  const t = useText();
  return (
    <>
      <ChoiceChips
        legend={t('provider.preset')}
        options={providerPresets.map(({ key, name }) => ({ value: key, label: name || t('provider.presetOther') }))}
        value={preset.key}
        onChange={onPreset}
        hint={<PresetHint preset={preset} />}
      />
      {preset.isLocal || preset.key === 'other' ? (
        <FindServers
          onUse={({ name, baseUrl }) => {
            onPreset(providerPresets.find((each) => each.name === name)?.key ?? 'other');
            form.setFieldValue('name', name);
            form.setFieldValue('kind', 'openai');
            form.setFieldValue('baseUrl', baseUrl);
          }}
        />
      ) : null}
    </>
  );
}

function PresetHint({ preset: { name, keys, isLocal } }: { preset: ProviderPreset }) {
  const t = useText();
  return (
    <>
      {name === '' ? t('provider.hintOther') : t(isLocal ? 'preset.local' : 'preset.key', { name })}{' '}
      {keys === undefined ? null : (
        <a href={`https://${keys}`} target="_blank" rel="noreferrer">
          {t('provider.createKey', { host: keys.split('/')[0] ?? keys })}
        </a>
      )}
    </>
  );
}

/** Tests the form's values; a result is valid only as long as nothing relevant changes. */
function useConnectionTest(provider: Provider | undefined) {
  const { state, run } = useProviderTest();
  const [tested, setTested] = useState('');
  const isFor = (values: ProviderValues) => tested === fingerprint(values);
  const canTest = (form: Form, values: ProviderValues) =>
    providerTestBody(values, provider, form.isDirty) !== undefined;
  return {
    state,
    isFor,
    canTest,
    found: (values: ProviderValues) => (isFor(values) && state.kind === 'found' ? state.models : undefined),
    run: async (form: Form, values: ProviderValues) => {
      const body = providerTestBody(values, provider, form.isDirty);
      if (!body) return undefined;
      setTested(fingerprint(values));
      return run(body);
    },
  };
}

function fingerprint({ kind, baseUrl, apiKey, clearsKey, headers }: ProviderValues): string {
  return JSON.stringify([
    kind,
    baseUrl.trim(),
    apiKey.trim(),
    clearsKey,
    headers.map(({ name, value }) => [name, value]),
  ]);
}

type ApiKeyProps = { api: ApiForm<ProviderValues>; isStored: boolean; staysWith: string | undefined };

function ApiKeyField({ api, isStored, staysWith }: ApiKeyProps) {
  const t = useText();
  const { form } = api;
  const { clearsKey } = form.values;
  const optional = hostedPreset(form.values.baseUrl) ? 'provider.apiKeyRequired' : 'provider.apiKeyOptional';
  const hint = clearsKey ? 'provider.apiKeyCleared' : isStored ? 'provider.apiKeyStored' : optional;
  const keyStays = isStored && !clearsKey && staysWith !== undefined;
  return (
    <StoredSecretField
      input={form.getInputProps('apiKey')}
      label={t('provider.apiKey')}
      description={keyStays ? t('provider.apiKeyStays', { origin: staysWith }) : t(hint)}
      isStored={isStored}
      isCleared={clearsKey}
      onToggle={() => {
        form.setFieldValue('clearsKey', !clearsKey);
        form.setFieldValue('apiKey', '');
      }}
      clearLabel={t('provider.apiKeyClear')}
      keepLabel={t('provider.apiKeyKeep')}
    />
  );
}
