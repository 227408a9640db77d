import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { contextQuery } from '../../context/context-api.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { useMenu } from '../../layout/menus/use-menu.ts';
import classes from '../composer/composer.module.css';
import type { UsedContext } from './used-context.ts';

const ContextMenu = lazyComponent(async () => (await import('./context-menu.tsx')).ContextMenu);

type Props = {
  store: ConversationStore;
  model: Model | undefined;
  context: UsedContext;
  isDisabled: boolean;
};

const radius = 6.5;
const length = 2 * Math.PI * radius;

/** How full the model's context is, and the way to an empty one. */
export function ContextGauge({ store, model, context, isDisabled }: Props) {
  const { answerId = '', isStale } = context;
  const { data: told } = useQuery({ ...contextQuery(store.chatId, answerId), enabled: isStale, retry: false });
  const used = isStale && told ? told.tokens.total : context.used;
  const t = useText();
  const { place, buttonProps } = useMenu(ContextMenu);
  if (!model) return null;
  const share = Math.min(1, used / model.contextWindow);
  const label = t('context.label', { percent: Math.round(share * 100) });
  return (
    <>
      <UnstyledButton
        className={classes.gauge}
        aria-label={label}
        title={label}
        data-full={share > 0.8 || undefined}
        {...buttonProps}
      >
        <svg viewBox="0 0 18 18" width={18} height={18} aria-hidden="true">
          <circle cx={9} cy={9} r={radius} className={classes.gaugeTrack} />
          <circle
            cx={9}
            cy={9}
            r={radius}
            className={classes.gaugeFill}
            strokeDasharray={`${share * length} ${length}`}
            transform="rotate(-90 9 9)"
          />
        </svg>
      </UnstyledButton>
      {place ? (
        <ContextMenu
          {...place}
          label={label}
          store={store}
          used={used}
          answerId={context.answerId}
          contextWindow={model.contextWindow}
          isDisabled={isDisabled}
        />
      ) : null}
    </>
  );
}
