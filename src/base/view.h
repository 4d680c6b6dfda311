// Borrowed memory with a shape. Views never own; rows are contiguous, and a row may be followed by
// others at a stride.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace assay {

template <typename T>
using View1 = std::span<T>;

// A row-major matrix [rows, cols]; row r starts at data + r * stride (in elements, stride >= cols).
template <typename T>
class View2 {
 public:
  View2() = default;
  View2(T* data, size_t rows, size_t cols) : View2(data, rows, cols, cols) {}
  View2(T* data, size_t rows, size_t cols, size_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}
  // View2<float> converts to View2<const float>.
  template <typename U>
    requires(std::is_same_v<const U, T> && !std::is_const_v<U>)
  View2(const View2<U>& other)  // NOLINT(google-explicit-constructor)
      : View2(other.data(), other.rows(), other.cols(), other.stride()) {}

  T* data() const { return data_; }
  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  size_t stride() const { return stride_; }
  bool empty() const { return rows_ == 0 || cols_ == 0; }

  T* row(size_t r) const { return data_ + r * stride_; }
  View1<T> operator[](size_t r) const { return {row(r), cols_}; }
  // Rows [first, first + count) of this view.
  View2 Rows(size_t first, size_t count) const { return {row(first), count, cols_, stride_}; }
  // Columns [first, first + count) of every row.
  View2 Cols(size_t first, size_t count) const { return {data_ + first, rows_, count, stride_}; }

 private:
  T* data_ = nullptr;
  size_t rows_ = 0;
  size_t cols_ = 0;
  size_t stride_ = 0;
};

}  // namespace assay
