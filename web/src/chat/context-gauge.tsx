import type { Model } from '@homeport/contracts/catalogue';
import type { Message } from '@homeport/contracts/conversations';
import { UnstyledButton } from '@mantine/core';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { lazyPart } from '../frame/lazy-part.tsx';
import { useMenu } from '../frame/use-menu.ts';
import { useText } from '../i18n.ts';
import classes from './composer.module.css';

const ContextMenu = lazyPart(async () => (await import('./context-menu.tsx')).ContextMenu);

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
  const { used, answerId } = context;
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
          answerId={answerId}
          contextWindow={model.contextWindow}
          isDisabled={isDisabled}
        />
      ) : null}
    </>
  );
}

/** Tokens of the last exchange, which the next message adds to, and its answer. */
export type UsedContext = { used: number; answerId: string | undefined };

/** What the last answer after the context's beginning read and wrote. */
export function usedContext(messages: readonly Message[], startId: string | null): UsedContext {
  const start = startId === null ? -1 : messages.findIndex((message) => message.id === startId);
  const last = messages.findLast((message, index) => index > start && message.usage !== undefined);
  return { used: (last?.usage?.inputTokens ?? 0) + (last?.usage?.outputTokens ?? 0), answerId: last?.id };
}
