import 'virtual:texts/catalogue';
import '../forms/switch.css';
import type { Provider } from '@homeport/contracts/catalogue/catalogue';
import { ActionIcon, Button, Switch } from '@mantine/core';
import { PencilLine, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import classes from '../catalogue/catalogue-card.module.css';
import { ProviderTestResult } from '../catalogue/provider-test-result.tsx';
import { useProviderTest } from '../catalogue/use-provider-test.ts';
import { Notice } from '../forms/notice.tsx';
import { type Translate, useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { Card } from '../layout/section.tsx';
import { Tip } from '../layout/tip.tsx';
import { RefreshDialog } from './refresh-dialog.tsx';
import { useCatalogueChanges } from './use-catalogue-changes.ts';

/** Names of models in a sentence before it gets too long. */
const namedAtMost = 6;

/** One provider: its facts, its switch and its actions. */
export function ProviderCard({
  provider,
  canEdit,
  onEdit,
  onAddModels,
}: {
  provider: Provider;
  canEdit: boolean;
  onEdit: () => void;
  onAddModels: () => void;
}) {
  const t = useText();
  const { name } = provider;
  const changes = useCatalogueChanges();
  const { state, run } = useProviderTest();
  const [isDeleting, setDeleting] = useState(false);
  const [isRefreshing, setRefreshing] = useState(false);
  const isTesting = state.kind === 'running';
  return (
    <Card
      title={name}
      text={provider.canEdit ? <span className={classes.address}>{provider.baseUrl}</span> : undefined}
      action={
        canEdit ? (
          <Switch
            checked={provider.enabled}
            onChange={(event) => void changes.switchProvider(provider, event.currentTarget.checked)}
            aria-label={t('providers.enabled', { name })}
            size="md"
          />
        ) : undefined
      }
    >
      {provider.credentialsError ? <Notice kind="warning">{t('providers.unreadable')}</Notice> : null}
      {provider.credentialsOrigin && !provider.credentialsError ? (
        <Notice kind="warning">{t('provider.movedText', { origin: provider.credentialsOrigin })}</Notice>
      ) : null}
      <div className={classes.foot}>
        <ul className={classes.facts}>
          {facts(provider, t).map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
        {canEdit ? (
          <div className={classes.buttons}>
            <Button
              size="compact-sm"
              variant="default"
              aria-disabled={isTesting}
              onClick={() => !isTesting && void run({ id: provider.id })}
            >
              {t(isTesting ? 'provider.testing' : 'providers.test')}
              <span className="visually-hidden">{name}</span>
            </Button>
            {provider.models.length === 0 ? null : (
              <Button size="compact-sm" variant="default" onClick={() => setRefreshing(true)}>
                {t('refresh.action')}
                <span className="visually-hidden">{name}</span>
              </Button>
            )}
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Plus size={14} aria-hidden />}
              aria-label={t('models.addNamed', { name })}
              onClick={onAddModels}
            >
              {t('models.add')}
            </Button>
            <span className={classes.icons}>
              <IconButton label={t('providers.editNamed', { name })} onClick={onEdit}>
                <PencilLine size={16} />
              </IconButton>
              <IconButton label={t('providers.deleteNamed', { name })} onClick={() => setDeleting(true)}>
                <Trash2 size={16} />
              </IconButton>
            </span>
          </div>
        ) : null}
      </div>
      {state.kind === 'found' || state.kind === 'failed' ? (
        <div className={classes.result}>
          <ProviderTestResult state={state} baseUrl={provider.baseUrl} />
        </div>
      ) : null}
      {isRefreshing ? <RefreshDialog provider={provider} onClose={() => setRefreshing(false)} /> : null}
      {isDeleting ? (
        <ConfirmDialog
          title={t('providers.deleteTitle', { name })}
          text={t('providers.deleteText', { count: provider.models.length, names: namesOf(provider) })}
          confirmLabel={t('providers.deleteConfirm')}
          onConfirm={() => {
            setDeleting(false);
            void changes.deleteProvider(provider);
          }}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </Card>
  );
}

function IconButton({ label, onClick, children }: { label: string; onClick: () => void; children: React.ReactNode }) {
  return (
    <Tip label={label} align="end">
      <ActionIcon variant="subtle" color="gray" size={30} aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tip>
  );
}

function facts(provider: Provider, t: Translate): string[] {
  return [
    t('providers.models', { count: provider.models.length }),
    ...(provider.modelTiers ? [] : [t(provider.hasApiKey ? 'providers.key' : 'providers.noKey')]),
    ...(provider.enabled ? [] : [t('providers.off')]),
    ...sharingFact(provider, t),
  ];
}

/** Text on sharing; a provider shared by another user has `modelTiers`. */
function sharingFact({ modelTiers, sharedWith = 'none' }: Provider, t: Translate): string[] {
  if (modelTiers) return [t('sharing.factShared')];
  if (sharedWith === 'none') return [];
  return [
    sharedWith === 'everyone'
      ? t('sharing.factEveryone')
      : t('sharing.factUsers', { count: sharedWith.userIds.length }),
  ];
}

function namesOf({ models }: Provider): string {
  const names = models.slice(0, namedAtMost).map((model) => model.displayName);
  return models.length > namedAtMost ? `${names.join(', ')}, …` : names.join(', ');
}
