import { type ReactNode, useId } from 'react';
import classes from './choice-chips.module.css';

/** One choice of a few, as radio buttons that look like chips. */
export function ChoiceChips<Value extends string>({
  legend,
  options,
  value,
  onChange,
  hint,
  isLegendHidden = false,
}: {
  legend: string;
  options: readonly { value: Value; label: string }[];
  value: Value;
  onChange: (value: Value) => void;
  hint?: ReactNode;
  isLegendHidden?: boolean;
}) {
  const name = useId();
  return (
    <fieldset className={classes.chips}>
      <legend className={isLegendHidden ? 'visually-hidden' : classes.legend}>{legend}</legend>
      {options.map((option) => (
        <label key={option.value} className={classes.chip}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="visually-hidden"
            data-autofocus={option.value === value || undefined}
          />
          {option.label}
        </label>
      ))}
      {hint ? <p className={classes.hint}>{hint}</p> : null}
    </fieldset>
  );
}
