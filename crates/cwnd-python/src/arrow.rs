//! Tables that other libraries take without copies, by Arrow's PyCapsule interface.

use crate::errors::{CwndError, InputError};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt64Array, ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::{DataType, Field, Schema};
use cwnd_study::export::{Entry, Kind, Sheet};
use numpy::PyArray1;
use pyo3::{
    prelude::*,
    types::{PyBool, PyCapsule, PyFloat, PyInt, PyList, PyString},
};
use std::sync::Arc;

/// A table of columns of equal length. pandas, polars, pyarrow and DuckDB take it as it is, without copying it
/// (`polars.DataFrame(table)`); `table["column"]` is a NumPy array.
#[pyclass(frozen, module = "cwnd")]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// Creates a table of these columns, which all have the same length.
    pub fn new(columns: Vec<(String, ArrayRef)>) -> PyResult<Table> {
        let fields: Vec<Field> =
            columns.iter().map(|(name, values)| Field::new(name, values.data_type().clone(), true)).collect();
        let values = columns.into_iter().map(|(_, values)| values).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), values);
        Ok(Table { batch: batch.map_err(|error| CwndError::new_err(error.to_string()))? })
    }

    /// Creates a table of what an export has.
    pub fn of_sheet(sheet: &Sheet) -> PyResult<Table> {
        let column = |(place, column): (usize, &cwnd_study::export::Column)| {
            let entries = sheet.rows.iter().map(|row| &row[place]);
            let values: ArrayRef = match column.kind {
                Kind::Text => Arc::new(entries.map(text).collect::<StringArray>()),
                Kind::Unsigned => Arc::new(entries.map(count).collect::<UInt64Array>()),
                Kind::Int => {
                    Arc::new(entries.map(|one| count(one).map(|n| n as i64)).collect::<Int64Array>())
                }
                Kind::Double => Arc::new(entries.map(number).collect::<Float64Array>()),
            };
            (column.name.clone(), values)
        };
        Table::new(sheet.columns.iter().enumerate().map(column).collect())
    }
}

fn text(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Text(text) => Some(text),
        _ => None,
    }
}

fn count(entry: &Entry) -> Option<u64> {
    match entry {
        Entry::Count(count) => Some(*count),
        _ => None,
    }
}

fn number(entry: &Entry) -> Option<f64> {
    match entry {
        Entry::Number(number) => Some(*number),
        _ => None,
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.batch.column_by_name(name).is_some()
    }

    /// Returns a column as a NumPy array: numbers as float64 (NaN where there is none), counts without gaps as integers, switches as booleans, and texts
    /// as objects (None where there is none).
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(column) = self.batch.column_by_name(name) else {
            let meant = cwnd_scenario::nearest(
                name,
                self.batch.schema_ref().fields().iter().map(|f| f.name().as_str()),
            );
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            return Err(pyo3::exceptions::PyKeyError::new_err(format!(
                "there is no column `{name}`{hint} (`.columns` lists all {})",
                self.batch.num_columns()
            )));
        };
        let values = column.as_any();
        if let Some(values) = values.downcast_ref::<Float64Array>() {
            let numbers = values.iter().map(|value| value.unwrap_or(f64::NAN));
            return Ok(PyArray1::from_iter(py, numbers).into_any());
        }
        if let Some(values) = values.downcast_ref::<UInt64Array>() {
            return Ok(match values.null_count() {
                0 => PyArray1::from_slice(py, values.values()).into_any(),
                _ => PyArray1::from_iter(py, values.iter().map(|n| n.map_or(f64::NAN, |n| n as f64)))
                    .into_any(),
            });
        }
        if let Some(values) = values.downcast_ref::<Int64Array>() {
            return Ok(match values.null_count() {
                0 => PyArray1::from_slice(py, values.values()).into_any(),
                _ => PyArray1::from_iter(py, values.iter().map(|n| n.map_or(f64::NAN, |n| n as f64)))
                    .into_any(),
            });
        }
        if let Some(values) = values.downcast_ref::<BooleanArray>() {
            return Ok(PyArray1::from_iter(py, values.iter().map(|value| value == Some(true))).into_any());
        }
        match values.downcast_ref::<StringArray>() {
            Some(values) => {
                let list = PyList::new(py, values.iter())?;
                py.import("numpy")?.call_method1("array", (list, "object"))
            }
            None => Err(InputError::new_err(format!("the column `{name}` has {}", column.data_type()))),
        }
    }

    /// Arrow's PyCapsule interface: the table as a stream of one batch.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types; the producer may give what it has (and this one does).
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// The rows as a list of dictionaries; None stands for an absent value.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let schema = self.batch.schema();
        let rows = (0..self.batch.num_rows()).map(|row| {
            let dict = pyo3::types::PyDict::new(py);
            for (field, column) in schema.fields().iter().zip(self.batch.columns()) {
                dict.set_item(field.name(), value(py, column, row)?)?;
            }
            Ok(dict)
        });
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        let columns = self.columns();
        let shown = columns.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
        let more = if columns.len() > 8 { ", …" } else { "" };
        format!("<cwnd.Table: {} rows, {} columns: {shown}{more}>", self.batch.num_rows(), columns.len())
    }
}

fn value<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    if column.is_null(row) {
        return Ok(None);
    }
    let any = column.as_any();
    Ok(match column.data_type() {
        DataType::Float64 => {
            any.downcast_ref::<Float64Array>().map(|a| PyFloat::new(py, a.value(row)).into_any())
        }
        DataType::UInt64 => {
            any.downcast_ref::<UInt64Array>().map(|a| PyInt::new(py, a.value(row)).into_any())
        }
        DataType::Int64 => any.downcast_ref::<Int64Array>().map(|a| PyInt::new(py, a.value(row)).into_any()),
        DataType::Boolean => {
            any.downcast_ref::<BooleanArray>().map(|a| PyBool::new(py, a.value(row)).to_owned().into_any())
        }
        _ => any.downcast_ref::<StringArray>().map(|a| PyString::new(py, a.value(row)).into_any()),
    })
}
