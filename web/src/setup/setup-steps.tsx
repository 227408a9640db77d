import { Check } from 'lucide-react';
import { useText } from '../i18n/i18n.ts';
import classes from './setup-steps.module.css';

const steps = ['Account', 'Provider', 'Models'] as const;

/** The progress of the setup; `step` counts from 0 and equals the number of steps at the end. */
export function SetupSteps({ step }: { step: number }) {
  const t = useText();
  return (
    <ol className={classes.steps} aria-label={t('setup.steps')}>
      {steps.map((name, index) => (
        <li
          key={name}
          className={classes.step}
          data-state={index < step ? 'done' : index === step ? 'now' : undefined}
          aria-current={index === step ? 'step' : undefined}
        >
          <span className={classes.dot} aria-hidden>
            {index < step ? <Check size={13} strokeWidth={3} /> : index + 1}
          </span>
          {t(`setup.step${name}`)}
          {index < step ? <span className="visually-hidden">{t('setup.stepDone')}</span> : null}
        </li>
      ))}
    </ol>
  );
}
