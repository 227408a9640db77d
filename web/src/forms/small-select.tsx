import './forms.css';
import { NativeSelect } from '@mantine/core';
import classes from './form.module.css';

/** A small inline select that takes effect immediately. */
export function SmallSelect({
  label,
  value,
  options,
  size = 'xs',
  onChange,
}: {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  /** `sm` beside other fields, so that all have one height. */
  size?: 'xs' | 'sm';
  onChange: (value: string) => void;
}) {
  return (
    <NativeSelect
      size={size}
      className={classes.smallSelect}
      aria-label={label}
      value={value}
      data={[...options]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
