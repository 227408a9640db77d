import 'virtual:texts/pages';
import type { Provider } from '@homeport/contracts/catalogue/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { Button, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { catalogueQuery, publicConfigQuery, tiersQuery } from '../api/queries.ts';
import { ModelChooser } from '../catalogue/models/model-chooser.tsx';
import { ProviderForm } from '../catalogue/provider-form.tsx';
import { enabledModels } from '../conversation/choices/model-choice.ts';
import classes from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { useBranding } from '../layout/branding.ts';
import { EntryPage } from '../sign-in/sign-in-layout.tsx';
import { AdministratorForm } from './administrator-form.tsx';
import { SetupSteps } from './setup-steps.tsx';

type Step = 'account' | 'provider' | 'models' | 'done';

/** `/setup`: from an empty installation to the first conversation. It continues where something is missing. */
export function SetupPage() {
  const { data: config } = useQuery(publicConfigQuery);
  if (!config) return null;
  return config.setup.required ? <AccountStep claimRequired={config.setup.claimRequired} /> : <CatalogueSteps />;
}

function AccountStep({ claimRequired }: { claimRequired: boolean }) {
  const t = useText();
  const { productName } = useBranding();
  const [isClosed, setClosed] = useState(false);
  if (isClosed) {
    return (
      <EntryPage title={t('setup.closedTitle')} text={t('setup.closedText')}>
        {/* A full page load, since the page's configuration still has the old setup state. */}
        <Button component="a" href="/sign-in" fullWidth data-autofocus>
          {t('signIn.title')}
        </Button>
      </EntryPage>
    );
  }
  return (
    <EntryPage
      isWide
      title={t('setup.title', { product: productName })}
      text={t('setup.accountText')}
      above={<SetupSteps step={0} />}
    >
      <AdministratorForm claimRequired={claimRequired} onClosed={() => setClosed(true)} />
    </EntryPage>
  );
}

function CatalogueSteps() {
  const t = useText();
  const { data, error: catalogueError } = useQuery(catalogueQuery);
  const { data: tiers, error: tiersError } = useQuery(tiersQuery);
  const error = catalogueError ?? tiersError;
  const [chosenStep, setStep] = useState<Step>();
  const [saved, setSaved] = useState<{ id: string; found: readonly ListedModel[] | undefined }>();
  if (!data || !tiers) {
    return (
      <EntryPage isWide title={t('setup.providerTitle')} above={<SetupSteps step={1} />}>
        {error ? <FormFailure failure={error} /> : <Loader aria-label={t('app.loading')} />}
      </EntryPage>
    );
  }
  const provider =
    data.providers.find(({ id }) => id === saved?.id) ?? data.providers.findLast(({ canEdit }) => canEdit);
  const step = chosenStep ?? stepOf(data.providers);
  if (step === 'done') return <DoneStep providers={data.providers} />;
  if (step === 'models' && provider) {
    return (
      <EntryPage
        key="models"
        isWide
        title={t('setup.modelsTitle')}
        text={t('setup.modelsText', { provider: provider.name })}
        above={<SetupSteps step={2} />}
      >
        <ModelChooser
          provider={provider}
          tiers={tiers.modelTiers}
          found={saved?.found}
          submitLabel={(count) => t('setup.modelsAction', { count })}
          onAdded={() => setStep('done')}
          beside={
            <>
              <Button variant="subtle" color="gray" className={classes.spread} onClick={() => setStep('provider')}>
                {t('setup.editProvider')}
              </Button>
              <SkipButton />
            </>
          }
        />
      </EntryPage>
    );
  }
  const goOn = ({ id }: Provider, found: readonly ListedModel[] | undefined) => {
    setSaved({ id, found });
    setStep('models');
  };
  return (
    <EntryPage
      key="provider"
      isWide
      title={t('setup.providerTitle')}
      text={t('setup.providerText')}
      above={<SetupSteps step={1} />}
    >
      <ProviderForm
        provider={provider}
        testsFirst
        submitLabel={t('setup.providerAction')}
        onSaved={goOn}
        beside={<SkipButton />}
      />
    </EntryPage>
  );
}

function DoneStep({ providers }: { providers: readonly Provider[] }) {
  const t = useText();
  const models = enabledModels(providers);
  const name = models.find((model) => model.isDefault)?.displayName ?? models[0]?.displayName ?? '';
  return (
    <EntryPage
      isWide
      title={t('setup.doneTitle')}
      text={t('setup.doneText', { count: models.length, name })}
      above={<SetupSteps step={3} />}
    >
      <div className={classes.actions}>
        <Button component={Link} to="/settings/account" variant="subtle" color="gray" className={classes.spread}>
          {t('setup.doneSettings')}
        </Button>
        <Button component={Link} to="/" autoFocus>
          {t('setup.doneAction')}
        </Button>
      </div>
    </EntryPage>
  );
}

function SkipButton() {
  const t = useText();
  const navigate = useNavigate();
  return (
    <Button variant="subtle" color="gray" onClick={() => void navigate({ to: '/' })}>
      {t('setup.skip')}
    </Button>
  );
}

/** The first unfinished step. */
function stepOf(providers: readonly Provider[]): Step {
  if (providers.length === 0) return 'provider';
  return providers.some((provider) => provider.models.length > 0) ? 'done' : 'models';
}
