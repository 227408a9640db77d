import 'virtual:texts/web-search';
import '../forms/forms.css';
import '../forms/switch.css';
import { type SearchKind, searchKinds } from '@homeport/contracts/search-kinds';
import type { WebSearchSettings } from '@homeport/contracts/web-search';
import { Button, NativeSelect, Switch, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import formClasses from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { StoredSecretField } from '../forms/stored-secret-field.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { showToast } from '../layout/toasts.tsx';

type Kind = 'off' | SearchKind;
type Ask = WebSearchSettings['askAfterReading'];
type WebSearchValues = {
  kind: Kind;
  baseUrl: string;
  apiKey: string;
  clearsKey: boolean;
  forEveryone: boolean;
  askAfterReading: Ask;
};
/** The service as the endpoints take it; an omitted key is kept. */
type ServiceBody = { kind: Kind; baseUrl?: string; apiKey?: string | null };

type Props = {
  stored: Pick<WebSearchSettings, 'kind' | 'hasApiKey' | 'credentialsError' | 'credentialsOrigin'> & {
    baseUrl: string | null;
    forEveryone?: boolean;
    askAfterReading: Ask;
  };
  /** Present for administrators: who may use the service. */
  isGeneral: boolean;
  /** The administrators' rule for approvals counts, whatever the person chooses. */
  isAskForced?: boolean;
  offLabel: string;
  save: (values: WebSearchValues, service: ServiceBody) => Promise<void>;
  test: (service: ServiceBody) => Promise<{ results: number }>;
};

type TestState =
  | { kind: 'idle' }
  | { kind: 'running' }
  | { kind: 'passed'; results: number }
  | { kind: 'failed'; failure: unknown };

/** Search service, its key and its test, and the rule for approvals after reading. */
export function WebSearchForm({ stored, isGeneral, isAskForced = false, offLabel, save, test }: Props) {
  const t = useText();
  const [tested, setTested] = useState<TestState>({ kind: 'idle' });
  const { form, formProps, isBusy, failure, check } = useApiForm<WebSearchValues>({
    initialValues: {
      kind: stored.kind,
      baseUrl: stored.baseUrl ?? '',
      apiKey: '',
      clearsKey: false,
      forEveryone: stored.forEveryone ?? true,
      askAfterReading: stored.askAfterReading,
    },
    validate: ({ kind, baseUrl }) => ({
      baseUrl: kind === 'searxng' && baseUrl.trim() === '' ? t('webSearch.addressMissing') : null,
    }),
    submit: async (values) => {
      await save(values, serviceOf(values));
      const saved = { ...values, apiKey: '', clearsKey: false };
      form.setValues(saved);
      form.resetDirty(saved);
      showToast(t('webSearch.saved'));
    },
  });
  const { values } = form;
  const put = (changes: Partial<WebSearchValues>) => {
    form.setValues(changes);
    setTested({ kind: 'idle' });
  };
  const runTest = async () => {
    if (!check(['baseUrl'])) return;
    setTested({ kind: 'running' });
    try {
      setTested({ kind: 'passed', ...(await test(serviceOf(values))) });
    } catch (problem) {
      setTested({ kind: 'failed', failure: problem });
    }
  };
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={form.isDirty()} />
      <NativeSelect
        label={t('webSearch.service')}
        value={values.kind}
        data={[
          { value: 'off', label: offLabel },
          ...searchKinds.map((kind) => ({ value: kind, label: t(`webSearch.kind.${kind}`) })),
        ]}
        onChange={(event) => put({ kind: kindOf(event.currentTarget.value), baseUrl: '' })}
      />
      {values.kind === 'off' ? null : (
        <ServiceFields form={form} stored={stored} onChange={() => setTested({ kind: 'idle' })} />
      )}
      {isGeneral && values.kind !== 'off' ? (
        <Switch
          label={t('webSearch.forEveryone')}
          description={t('webSearch.forEveryoneHint')}
          checked={values.forEveryone}
          onChange={(event) => form.setValues({ forEveryone: event.currentTarget.checked })}
        />
      ) : null}
      <NativeSelect
        label={t('webSearch.ask')}
        description={t(isAskForced ? 'webSearch.askForcedHint' : 'webSearch.askHint')}
        disabled={isAskForced}
        value={isAskForced ? 'on' : values.askAfterReading}
        data={(isGeneral ? (['on', 'off', 'forced'] as const) : (['on', 'off'] as const)).map((value) => ({
          value,
          label: t(`webSearch.ask.${value}`),
        }))}
        onChange={(event) => form.setValues({ askAfterReading: askOf(event.currentTarget.value) })}
      />
      <TestResult state={tested} />
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <SubmitButton label={t('webSearch.apply')} busyLabel={t('form.saving')} isBusy={isBusy} />
        {values.kind === 'off' ? null : (
          <Button variant="default" loading={tested.kind === 'running'} onClick={() => void runTest()}>
            {t('webSearch.test')}
          </Button>
        )}
      </div>
    </form>
  );
}

function ServiceFields({
  form,
  stored,
  onChange,
}: {
  form: ReturnType<typeof useApiForm<WebSearchValues>>['form'];
  stored: Props['stored'];
  onChange: () => void;
}): ReactNode {
  const t = useText();
  const { values } = form;
  const isSearxng = values.kind === 'searxng';
  const isStored = stored.hasApiKey && stored.kind === values.kind;
  return (
    <>
      <TextInput
        label={t('webSearch.address')}
        description={t(isSearxng ? 'webSearch.addressHint' : 'webSearch.addressOptional')}
        placeholder={isSearxng ? 'https://search.example.org' : ''}
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        dir="ltr"
        value={values.baseUrl}
        error={form.errors.baseUrl}
        onChange={(event) => {
          form.setValues({ baseUrl: event.currentTarget.value });
          onChange();
        }}
      />
      <StoredSecretField
        label={t('webSearch.key')}
        description={t(isStored ? 'webSearch.keyStored' : isSearxng ? 'webSearch.keyOptional' : 'webSearch.keyHint')}
        input={{
          value: values.apiKey,
          error: form.errors.apiKey,
          onChange: (event: { currentTarget: { value: string } }) => {
            form.setValues({ apiKey: event.currentTarget.value });
            onChange();
          },
        }}
        isStored={isStored}
        isCleared={values.clearsKey}
        onToggle={() => form.setValues({ clearsKey: !values.clearsKey, apiKey: '' })}
        clearLabel={t('webSearch.keyRemove')}
        keepLabel={t('webSearch.keyKeep')}
      />
      {stored.credentialsError === undefined && stored.credentialsOrigin === undefined ? null : (
        <Notice kind="warning">
          {stored.credentialsOrigin === undefined
            ? t('webSearch.keyUnreadable')
            : t('webSearch.keyElsewhere', { origin: stored.credentialsOrigin })}
        </Notice>
      )}
    </>
  );
}

function TestResult({ state }: { state: TestState }) {
  const t = useText();
  if (state.kind === 'failed') return <FormFailure failure={state.failure} />;
  if (state.kind !== 'passed') return null;
  return <Notice kind="success">{t('webSearch.passed', { count: state.results })}</Notice>;
}

function serviceOf({ kind, baseUrl, apiKey, clearsKey }: WebSearchValues): ServiceBody {
  const address = baseUrl.trim();
  const key = apiKey.trim();
  return {
    kind,
    ...(address === '' || kind === 'off' ? {} : { baseUrl: address }),
    ...(clearsKey ? { apiKey: null } : key === '' ? {} : { apiKey: key }),
  };
}

function kindOf(value: string): Kind {
  return searchKinds.find((kind) => kind === value) ?? 'off';
}

function askOf(value: string): Ask {
  return value === 'off' || value === 'forced' ? value : 'on';
}
